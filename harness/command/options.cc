#include "harness/command/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "harness/backend/rows.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// The cases that want one value of an option.
struct Want {
  std::int64_t cases = 0;
  std::vector<std::string> reasons;
};

// "16 devices": 16; else 0.
std::int64_t devices_wanted(const std::string& reason) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(reason.data(), reason.data() + reason.size(), n);
  return error == std::errc() && std::string_view(end) == " devices" ? n : 0;
}

// The row of the backend of a record; null where it is a command.
const BackendRow* row_of_name(const std::string& backend) {
  const std::string_view name = std::string_view(backend).substr(0, backend.find_first_of("@,"));
  const auto at = std::ranges::find(backend_rows(), name, &BackendRow::name);
  return at == backend_rows().end() ? nullptr : &*at;
}

std::map<std::string, Want> wants(const BackendRow& row, const Count& count) {
  std::map<std::string, Want> all;
  std::int64_t most = 0;
  for (const auto& [reason, n] : count.reasons)
    if (!row.launch.empty()) most = std::max(most, devices_wanted(reason));
  for (const auto& [reason, n] : count.reasons) {
    const bool devices = most > 0 && devices_wanted(reason) > 0;
    const std::string option = devices ? fmt::format("np={}", most) : lifted_by(row, reason);
    if (option.empty()) continue;
    all[option].cases += n;
    all[option].reasons.push_back(reason.substr(0, reason.find(" (")));
  }
  return all;
}

}  // namespace

std::string options_of_backends() {
  std::string text =
      "Options, as in jax@0.10.2,style=explicit (plumb backends NAME says what each value does):\n";
  const auto add = [&](const std::string& option, const std::string& values) {
    text += fmt::format("  {:<18}  {}\n", option, values);
  };
  for (const BackendRow& row : backend_rows())
    for (const BackendOption& o : row.options)
      add(fmt::format("{},{}=", row.name, o.name),
          o.values.empty() ? o.help : fmt::format("{}", fmt::join(value_names(o), ", ")));
  add("./mine,NAME=", "whatever the command takes: './mine,plan=ring --flag'");
  return text;
}

std::string wanted_options(const Tally& tally) {
  std::string text;
  for (const Count& count : tally.counts) {
    const BackendRow* row = row_of_name(count.backend);
    if (!row) continue;
    for (const auto& [option, want] : wants(*row, count))
      text += fmt::format("{} on {}: {} of {} want{} {} ({})\n", count.suite, count.backend, want.cases,
                          counted(cases(count), "case"), want.cases == 1 ? "s" : "", option,
                          fmt::join(want.reasons, "; "));
  }
  return text;
}

}  // namespace plumb
