#include "harness/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "harness/record/circumstances.h"

namespace plumb {
namespace {

std::string joined_name(const Comparing& c, const std::string& backend) {
  return c.ignore_release ? without_release(backend) : backend;
}

std::string joined_key(const Comparing& c, const Record& r) {
  return record_key(r.line, joined_name(c, r.backend));
}

// The last record of each key, in the order in which keys first come.
struct Listed {
  std::vector<std::string> keys;
  std::unordered_map<std::string, const Record*> last;
};
Listed listed_by_key(const Comparing& c, const Records& records) {
  Listed all;
  for (const Record& r : records.records) {
    std::string key = joined_key(c, r);
    const auto [at, added] = all.last.insert_or_assign(key, &r);
    if (added) all.keys.push_back(std::move(key));
  }
  return all;
}

// What a pass of `now` leaves unjudged that one of `then` did not. What is within its bound was judged whole,
// and how many devices there are is the case's.
std::optional<Pass> rests_on_less(const Verdict& then, const Verdict& now) {
  constexpr std::pair<bool Verdict::*, Pass> leaves[] = {
      {&Verdict::plan,     Pass::plan    },
      {&Verdict::clones,   Pass::clones  },
      {&Verdict::untraced, Pass::untraced},
      {&Verdict::in_place, Pass::in_place}
  };
  for (const auto& [flag, pass] : leaves)
    if (now.*flag != then.*flag) return now.*flag ? std::optional(pass) : std::nullopt;
  return std::nullopt;
}

bool both_pass(const Record& from, const Record& to) {
  return from.verdict.status == Status::pass && to.verdict.status == Status::pass;
}

Change change_of(const Record& from, const Record& to) {
  if (both_pass(from, to)) {
    if (rests_on_less(from.verdict, to.verdict)) return Change::lost;
    if (rests_on_less(to.verdict, from.verdict)) return Change::gained;
  }
  const Change verdicts = change(from.verdict.status, to.verdict.status);
  if (verdicts != Change::same || from.cost.moved < 0 || to.cost.moved < 0) return verdicts;
  return to.cost.moved > from.cost.moved   ? Change::costlier
         : to.cost.moved < from.cost.moved ? Change::cheaper
                                           : Change::same;
}

std::string unrun_when(const Record& from, const Record& to) {
  const bool then = from.verdict.status == Status::unrun, now = to.verdict.status == Status::unrun;
  return then && now ? "unrun then and now" : then ? "unrun then" : "unrun now";
}

Transition only_before(const Comparing& c, const Record& from) {
  Transition pair{&from};
  pair.change = Change::uncompared;
  switch (c.selected(from)) {
    case Selected::yes:
      pair.change = Change::vanished;
      break;
    case Selected::no:
      pair.why = "not selected now";
      break;
    case Selected::unrun:
      pair.why = "the new run did not come to it";
      break;
    case Selected::nobody_says:
      pair.why = "absent, and the new record does not say what was selected";
  }
  return pair;
}

// What each backend says it is made of, in words; the last record's.
using Versions = std::map<std::string, std::map<std::string, std::string>>;
Versions versions_of(const Comparing& c, const Records& records) {
  Versions all;
  for (const Record& r : records.records)
    for (const auto& [part, version] : r.versions.items())
      all[joined_name(c, r.backend)][part] =
          version.is_string() ? version.get<std::string>() : version.dump();
  return all;
}

std::vector<std::string> differing(const Versions& from, const Versions& to) {
  std::vector<std::string> lines;
  for (const auto& [backend, parts] : to) {
    const auto before = from.find(backend);
    if (before == from.end()) continue;
    std::map<std::string, std::pair<std::string, std::string>> both;
    for (const auto& [part, version] : before->second) both[part].first = version;
    for (const auto& [part, version] : parts) both[part].second = version;
    for (const auto& [part, versions] : both)
      if (versions.first != versions.second)
        lines.push_back(fmt::format("{}: {} {} -> {}", backend, part,
                                    versions.first.empty() ? "none" : versions.first,
                                    versions.second.empty() ? "none" : versions.second));
  }
  return lines;
}

// Of the last record that says it.
nlohmann::json environment_of(const Records& records) {
  for (std::size_t n = records.records.size(); n-- > 0;)
    if (records.records[n].environment.is_object()) return records.records[n].environment;
  return nlohmann::json::object();
}

std::vector<Timings> timings_by_joined_name(const Comparing& c, const Records& records) {
  std::vector<Timings> all = timings_of(records.records);
  for (Timings& t : all) t.backend = joined_name(c, t.backend);
  return all;
}

}  // namespace

const Record& either(const Transition& pair) { return pair.to ? *pair.to : *pair.from; }

Compared compare_runs(const Comparing& c) {
  const Listed from = listed_by_key(c, c.from), to = listed_by_key(c, c.to);
  Compared all;
  for (const std::string& key : to.keys) {
    Transition pair{nullptr, to.last.at(key), Change::fresh, ""};
    if (const auto at = from.last.find(key); at != from.last.end()) {
      pair.from = at->second;
      pair.change = change_of(*pair.from, *pair.to);
      if (pair.change == Change::uncompared) pair.why = unrun_when(*pair.from, *pair.to);
      ++all.table[{pair.from->verdict.status, pair.to->verdict.status}];
    }
    all.pairs.push_back(std::move(pair));
  }
  for (const std::string& key : from.keys)
    if (!to.last.contains(key)) all.pairs.push_back(only_before(c, *from.last.at(key)));
  all.versions = differing(versions_of(c, c.from), versions_of(c, c.to));
  all.environment = differing(environment_of(c.from), environment_of(c.to));
  all.paced = paced(timings_by_joined_name(c, c.from), timings_by_joined_name(c, c.to));
  return all;
}

std::int64_t count(const Compared& all, Change change) {
  return std::ranges::count(all.pairs, change, &Transition::change);
}

std::vector<OfKind> by_kind(const Compared& all, Change change) {
  std::map<Kind, std::vector<const Transition*>> kinds;
  for (const Transition& pair : all.pairs) {
    if (pair.change != change) continue;
    const bool before = !pair.to || (!finding(pair.to->verdict.status) && change != Change::lost);
    Kind kind = kind_of(before && pair.from ? *pair.from : either(pair));
    if (pair.from && pair.to && both_pass(*pair.from, *pair.to)) {
      const Verdict &from = pair.from->verdict, &to = pair.to->verdict;
      const auto less = change == Change::lost ? rests_on_less(from, to) : rests_on_less(to, from);
      if (less) kind.why = fmt::format("pass ({})", name(*less));
    }
    kinds[std::move(kind)].push_back(&pair);
  }
  std::vector<OfKind> list;
  for (auto& [kind, pairs] : kinds) list.push_back({kind, std::move(pairs)});
  std::ranges::stable_sort(list, std::greater{}, [](const OfKind& k) { return k.pairs.size(); });
  return list;
}

}  // namespace plumb
