#include "harness/command/against.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/compare/paced.h"
#include "harness/record/circumstances.h"

namespace plumb {

void say_what_became(const std::vector<Timings>& now, const std::vector<Timings>& then, std::FILE* out) {
  const std::vector<Paced> all = paced(then, now);
  for (const Paced& one : all) fmt::print(out, "{}\n", paced_in_words(one));
  if (const std::string few = too_few_to_tell(all); !few.empty()) fmt::print(out, "note  {}\n", few);
}

void say_what_turns_came_to(const std::vector<Timings>& now, std::FILE* out) {
  for (const Paced& one : paced_in_turns(now)) fmt::print(out, "{}\n", paced_in_words(one));
}

std::string times_lacked(const std::vector<Timings>& now, const std::vector<Timings>& then) {
  const auto lacks = [&](const Timings& t) {
    return std::ranges::none_of(then, [&](const Timings& old) {
      return old.line == t.line && old.backend == t.backend && !old.repetitions.empty();
    });
  };
  const auto first = std::ranges::find_if(now, lacks);
  if (first == now.end()) return {};
  return fmt::format("{} of {} case{}, the first {}  {}", std::ranges::count_if(now, lacks), now.size(),
                     now.size() == 1 ? "" : "s", first->backend, first->line);
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
    const auto here = now.find(record_key(record.line, record.backend));
    if (here == now.end() || !record.bench) continue;
    for (std::string& one : differing(made_where(record, record.environment), here->second))
      if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace plumb
