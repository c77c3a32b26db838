#include "harness/command/entries.h"

#include <fmt/format.h>

#include <regex>
#include <set>

#include "harness/command/waits.h"
#include "harness/record/environment.h"
#include "harness/select/per_device.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// As the library reads it, where a minus before it means: all others.
struct Filter {
  bool others = false;
  std::regex pattern;
};

Filter filter_of(const std::string& text) {
  Filter f{text.starts_with('-'), {}};
  try {
    f.pattern = std::regex(text.substr(f.others ? 1 : 0), std::regex::extended);
  } catch (const std::regex_error& error) {
    throw BadInput(fmt::format("--benchmark_filter: no regular expression: {}", text));
  }
  return f;
}

}  // namespace

Entries entries_of(const Chosen& chosen, ByBackend& subjects, const BenchFlags& flags,
                   const OfABackend& parted) {
  const std::string& filter = flags.library.filter;
  const bool all_of_them = filter.empty() || filter == "all";  // as the library has it
  const Filter meant = filter_of(all_of_them ? "" : filter);
  Settings told = settings(flags.running);
  told.parted = parted;
  if (!flags.quiet) told.waits = say_wait;
  Entries all;
  for (std::int64_t n : chosen.numbers)
    for (const std::string& backend : backends_of(flags.running)) {
      auto at = subjects.find(backend);
      if (at == subjects.end()) at = subjects.emplace(backend, Subject(backend, told)).first;
      const Case c = nth(chosen.cases, n);
      auto entry =
          std::make_unique<Entry>(Entry{flags.per_device ? per_device(c) : c, &at->second, {}, {}});
      entry->timings = {print(entry->c), at->second.name, {}, {}, machine()};
      if (flags.per_device) entry->timings.share = print(c);
      if (all_of_them || std::regex_search(name_of(*entry), meant.pattern) != meant.others)
        all.push_back(std::move(entry));
    }
  if (all.empty())
    throw BadInput(chosen.numbers.empty()
                       ? "no case is selected, nothing was timed"
                       : fmt::format("--benchmark_filter: no case matches {}", flags.library.filter));
  return all;
}

std::int64_t distinct_cases(const Entries& entries) {
  std::set<std::string> lines;
  for (const auto& entry : entries) lines.insert(entry->timings.line);
  return std::ssize(lines);
}

}  // namespace plumb
