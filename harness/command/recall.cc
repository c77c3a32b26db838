#include "harness/command/recall.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/command/against.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// In what a repetition that a record has is not as it is asked for now; empty where in nothing.
std::string asked_for_otherwise(const Repetition& then, const Pace& now, std::int64_t repetitions) {
  std::string other = timed_otherwise(then.timing, now.timing);
  const auto printed = [](double seconds) { return fmt::format("{:.6g}", seconds); };
  if (!other.empty() || then.seconds <= 0 || printed(then.seconds) == printed(now.seconds)) return other;
  return fmt::format("{} seconds a repetition, now {}: of {} repetitions --budget {}", printed(then.seconds),
                     printed(now.seconds), repetitions,
                     printed(then.seconds * static_cast<double>(repetitions)));
}

// Those that a record has, each at its number less one.
std::vector<std::optional<Repetition>> before(const std::vector<Timings>& all, const Entry& entry, const BenchFlags& flags) {
  std::vector<std::optional<Repetition>> same(static_cast<std::size_t>(flags.repetitions));
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions) {
      if (!is_of(t, entry) || r.stop == "soak") continue;
      const std::string other = asked_for_otherwise(r, entry.pace, flags.repetitions);
      if (!other.empty())
        throw BadInput(
            fmt::format("--resume: {} was timed otherwise, and its times belong to no run of these (another --record FILE times all anew): {}",
                        flags.record, other));
      if (r.lost.empty() && r.number >= 1 && r.number <= flags.repetitions)
        same[static_cast<std::size_t>(r.number - 1)] = r;
    }
  return same;
}

// Where the case of an entry would be timed now, by who started for it; a record of it.
Record timed_here(const Entry& entry) {
  Process& process = process_for(entry.c, *entry.subject);
  in_place(entry.c, process);
  Record now;
  now.line = entry.timings.line;
  say_who(now, *entry.subject);
  now.bench.emplace();
  if (process.hello()) now.bench->places = process.hello()->places;
  return now;
}

// By which other build of ours a record was made, whose clock may be another; empty where by none that it names.
std::string by_another_build(const std::vector<Record>& then, const nlohmann::json& here) {
  for (const Record& record : then)
    for (const char* part : {"plumbline", "revision", "compiler"})
      if (const auto was = record.environment.find(part); was != record.environment.end() && here.contains(part) && *was != here[part])
        return fmt::format("{} {}, now {}", part, dump(*was), dump(here[part]));
  return "";
}

// Repetitions of one case come of one machine, and of one build: throws where those recorded do not.
void refuse_made_elsewhere(const Entry& entry, const std::vector<Record>& recorded, const BenchFlags& flags,
                           const nlohmann::json& here) {
  const Record now = timed_here(entry);
  std::vector<Record> then;
  for (const Record& one : recorded)
    if (one.bench && is_of(one, entry)) then.push_back(one);
  std::string other = made_elsewhere(then, {
                                               {record_key(now.line, now.backend), made_where(now, here)}
  });
  const auto files = [](const Record& r) { return r.versions.value("files", ""); };
  if (other.empty() && std::ranges::any_of(then, [&](const Record& r) { return files(r) != files(now); }))
    other = fmt::format("{} was built anew", now.backend);
  if (other.empty()) other = by_another_build(then, here);
  if (!other.empty())
    throw BadInput(fmt::format("--resume: {} was made elsewhere, and its times belong to no run of here (another --record FILE times all anew): {}",
                               flags.record, other));
}

// A launch in which not every backend of a case was timed is no pair of turns: all of them take it again.
void recall_whole_turns(Course& course) {
  std::map<std::string, std::vector<Entry*>> cases;
  for (const auto& entry : course.entries) cases[entry->timings.line].push_back(entry.get());
  for (const auto& [line, all] : cases)
    for (std::size_t at = 0; at < all[0]->before.size(); ++at)
      if (std::ranges::any_of(all, [at](const Entry* e) { return !e->before[at]; }))
        for (Entry* e : all) e->before[at].reset();
}

}  // namespace

void recall(Course& course, const std::vector<Record>& recorded, const BenchFlags& flags,
            const nlohmann::json& here) {
  const std::vector<Timings> recalled = timings_of(recorded);
  for (const auto& entry : course.entries) {
    entry->before = before(recalled, *entry, flags);
    const auto times = std::ranges::find_if(recalled, [&](const Timings& t) { return is_of(t, *entry); });
    if (std::ranges::any_of(entry->before, [](const auto& r) { return r.has_value(); }))
      refuse_made_elsewhere(*entry, recorded, flags, here);
    if (times != recalled.end()) entry->timings.over = times->over, entry->timings.notes = times->notes;
    for (const Record& r : recorded)
      if (!r.bench && is_of(r, *entry) && was_judged(r))
        entry->failed = not_timed(r), entry->last_words = r.last_words;
  }
  if (flags.in_turns) recall_whole_turns(course);
  for (const auto& entry : course.entries)
    for (const auto& one : entry->before)
      if (one) entry->timings.repetitions.push_back(*one);
}

}  // namespace plumb
