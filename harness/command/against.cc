#include "harness/command/against.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/compare.h"
#include "harness/record/circumstances.h"

namespace plumb {

void say_what_became(const std::vector<Timings>& now, const std::vector<Timings>& then) {
  for (const Timings& t : now)
    for (const Timings& old : then) {
      if (old.line != t.line || old.backend != t.backend) continue;
      const auto ratio = ratio_of(medians(t), medians(old));
      const std::string in_numbers =
          ratio ? fmt::format("{:.3f} ({:.3f} to {:.3f}) times as long", ratio->middle, ratio->interval.low,
                              ratio->interval.high)
                : std::string("fewer than four repetitions on either side");
      fmt::print("{:<7} {}  {}: {}\n", name(became(ratio)), t.backend, t.line, in_numbers);
    }
}

nlohmann::json made_where(const Record& record, const nlohmann::json& environment) {
  nlohmann::json all = environment.is_object() ? environment : nlohmann::json::object();
  all["versions"] = record.versions;
  if (record.bench && !record.bench->places.empty()) all["places"] = record.bench->places;
  return all;
}

std::string made_elsewhere(const std::vector<Record>& then,
                           const std::map<std::string, nlohmann::json>& now) {
  std::vector<std::string> all;
  for (const Record& record : then) {
    const auto here = now.find(record.backend);
    if (here == now.end() || !record.bench) continue;
    for (std::string& one : differing(made_where(record, record.environment), here->second))
      if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace plumb
