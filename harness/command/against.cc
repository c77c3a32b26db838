#include "harness/command/against.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/compare/paced.h"
#include "harness/record/circumstances.h"

namespace plumb {

void say_what_became(const std::vector<Timings>& now, const std::vector<Timings>& then) {
  for (const Paced& one : paced(then, now)) fmt::print("{}\n", paced_in_words(one));
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
