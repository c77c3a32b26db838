// plumb bench: times cases whose results are right.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "adapters/protocol/json.h"
#include "harness/backend/interrupt.h"
#include "harness/command/against.h"
#include "harness/command/command.h"
#include "harness/command/entries.h"
#include "harness/command/files.h"
#include "harness/command/probes.h"
#include "harness/command/session.h"
#include "harness/record/circumstances.h"
#include "harness/measure/require.h"
#include "harness/report/doubts.h"
#include "harness/report/expected.h"
#include "harness/report/finding.h"
#include "harness/report/growth.h"
#include "harness/report/overlap.h"
#include "harness/report/progress.h"
#include "harness/report/timings_table.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Timings, or a record.
template <typename Of>
bool of_entry(const Of& of, const Entry& entry) {
  return of.line == entry.timings.line && of.backend == entry.timings.backend;
}

// In what a repetition that a record has is not as it is asked for now; empty where in nothing.
std::string timed_otherwise(const Repetition& then, const Pace& now, std::int64_t repetitions) {
  std::string other = timed_otherwise(then.timing, now.timing);
  const auto printed = [](double seconds) { return fmt::format("{:.6g}", seconds); };
  if (!other.empty() || then.seconds <= 0 || printed(then.seconds) == printed(now.seconds)) return other;
  return fmt::format("{} seconds a repetition, now {}: of {} repetitions --budget {}", printed(then.seconds),
                     printed(now.seconds), repetitions,
                     printed(then.seconds * static_cast<double>(repetitions)));
}

// Repetitions that a record has: a run that is resumed does not time them again. Throws where they were timed
// otherwise.
std::vector<Repetition> before(const std::vector<Timings>& all, const Entry& entry, const BenchFlags& flags) {
  std::vector<Repetition> same;
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions) {
      if (!of_entry(t, entry) || r.stop == "soak") continue;
      const std::string other = timed_otherwise(r, entry.pace, flags.repetitions);
      if (!other.empty())
        throw BadInput(
            fmt::format("--resume: {} was timed otherwise, and its times belong to no run of these (another --record FILE times all anew): {}",
                        flags.record, other));
      same.push_back(r);
    }
  return same;
}

// Times of one thing are compared with those of another by nobody: throws before any is taken.
void refuse_timed_otherwise(const Entries& entries, const std::vector<Timings>& then,
                            const std::string& record) {
  for (const auto& entry : entries)
    for (const Timings& t : then)
      for (const Repetition& r : t.repetitions)
        if (const std::string other = timed_otherwise(r.timing, entry->pace.timing);
            of_entry(t, *entry) && !other.empty())
          throw BadInput(fmt::format("--against: {} was timed otherwise: {}", record, other));
}

// Where the case of an entry would be timed now, by who started for it; a record of it.
Record timed_here(const Entry& entry) {
  Process& process = process_of(*entry.subject);
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
    if (one.bench && one.line == now.line && one.backend == now.backend) then.push_back(one);
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

// What was timed before stands in the place of what would be timed, and what failed then is asked no more.
void recall(Course& course, const std::vector<Record>& recorded, const BenchFlags& flags,
            const nlohmann::json& here) {
  const std::vector<Timings> recalled = timings_of(recorded);
  for (const auto& entry : course.entries) {
    entry->before = before(recalled, *entry, flags);
    if (!entry->before.empty()) refuse_made_elsewhere(*entry, recorded, flags, here);
    for (const Timings& t : recalled)
      if (of_entry(t, *entry)) entry->timings.over = t.over, entry->timings.notes = t.notes;
    for (const Record& r : recorded)
      if (!r.bench && r.verdict.status != Status::unrun && of_entry(r, *entry))
        entry->failed = not_timed(r), entry->last_words = r.last_words;
  }
}

std::string slow_one(const Timings& t) {
  if (const auto who = lagging(t)) return fmt::format("{} lags", who->rank);
  return fmt::format("{} was the slowest", laggard(together(t)).rank);
}

// What of a case is not as it was demanded, or cannot be said to be; the number of that. Those that the case
// is held to are counted.
std::int64_t say_unmet(const Timings& t, const std::vector<Requirement>& required,
                       std::vector<std::int64_t>& held, std::FILE* out) {
  std::int64_t findings = 0;
  const Figured f = figures_of(t);
  for (std::size_t i = 0; i < required.size(); ++i) {
    const Requirement& r = required[i];
    const Met how = met(r, f);
    if (how == Met::no_metric) continue;
    ++held[i];
    if (how == Met::yes) continue;
    const std::string rank = how == Met::no ? fmt::format("; rank {}", slow_one(t)) : "";
    fmt::print(out, "{}  {}  {}\n    {}{}\n",
               how == Met::no       ? "required"
               : how == Met::unsure ? "UNSURE"
                                    : "unjudged",
               t.backend, t.line, unmet(r, f), rank);
    ++findings;
  }
  return findings;
}

// Why a case has no times; empty where it has some, or nobody came to it.
std::string failed(const Entry& entry) {
  const Timings& t = entry.timings;
  return entry.failed.empty() && !t.repetitions.empty() && medians(t).empty() ? no_times(t.repetitions.back())
                                                                              : entry.failed;
}

// The cases that were not timed, and what was demanded in vain; the number of both.
std::int64_t say_findings(const Course& course, const std::vector<Requirement>& required, std::FILE* out) {
  std::int64_t findings = 0, timed = 0;
  std::vector<std::int64_t> held(required.size());
  for (const auto& entry : course.entries) {
    const Timings& t = entry->timings;
    const std::string why = failed(*entry);
    if (!why.empty() && !entry->refused)
      fmt::print(out, "not timed  {}  {}\n    {}\n{}", t.backend, t.line, why, said_last(entry->last_words)),
          ++findings;
    if (!why.empty() || t.repetitions.empty()) continue;
    ++timed, findings += say_unmet(t, required, held, out);
  }
  for (std::size_t i = 0; i < required.size(); ++i)
    if (timed > 0 && held[i] == 0)
      fmt::print(out, "unjudged  {}: no case that was timed has such a metric\n", required[i].text),
          ++findings;
  return findings;
}

// What was wrong in one repetition has no time of any.
std::vector<Timings> timed_cases(const Course& course) {
  std::vector<Timings> all;
  for (const auto& entry : course.entries)
    if (failed(*entry).empty() && !medians(entry->timings).empty()) all.push_back(entry->timings);
  return all;
}

// Says how what was begun is gone on with, which what is asked in the place of times is not.
void say_interrupted(const BenchFlags& flags, bool times) {
  if (flags.record.empty())
    fmt::print(stderr, "plumb: interrupted, and nothing was recorded{}\n",
               times ? ": with --record FILE it can be gone on with" : "");
  else
    fmt::print(stderr, "plumb: interrupted; {} has what {}\n", flags.record,
               times ? "was timed: the same command with --resume goes on" : "was said by then");
}

// What is asked in the place of times, as numbers; 0 where it is not.
struct Probes {
  std::int64_t pairs = 0, every = 0;
  double seconds = 0;
};

bool asked_in_place_of_times(const Probes& p) { return p.pairs > 0 || p.every > 0 || p.seconds > 0; }

// Nothing where times are asked for.
std::optional<int> probe(const Course& course, const Probes& asked) {
  try {
    if (asked.pairs > 0) return compare_clocks(course, asked.pairs);
    if (asked.every > 0) return compare_links(course, asked.every);
    if (asked.seconds > 0) return soak_cases(course, asked.seconds);
  } catch (const DoesNotFit& error) {
    fmt::print(stderr, "plumb: unrun: {}\n", error.what());
    return 2;
  }
  return std::nullopt;
}

Probes probes_of(const BenchFlags& flags) {
  constexpr std::int64_t pairs = 400;
  Probes asked{0, flags.links.empty() ? 0 : every_round_of(flags), parse_budget(flags.soak, "--soak")};
  if (flags.clock) asked.pairs = flags.iterations > 0 ? flags.iterations : pairs;
  return asked;
}

// What a run is held to: demands, and records of before, beside where those of now are made, by record_key().
struct HeldTo {
  std::vector<Requirement> required;
  std::vector<Record> then;
  std::map<std::string, nlohmann::json> made;
};

// The exit code, where something but the cases ended it.
int time_all(Course& course, const BenchFlags& flags) {
  try {
    run(course, flags.library);
    return 0;
  } catch (const Interrupted&) {
    say_interrupted(flags, true);
    return 130;
  } catch (const std::system_error& error) {
    fmt::print(stderr, "plumb: {}\n", error.what());
    return 3;
  }
}

// Tables and findings, these beside Google Benchmark's table where that stands in the place of ours; how many
// of these.
std::int64_t say_all(const Course& course, const BenchFlags& flags, const HeldTo& held) {
  const std::vector<Timings> all = timed_cases(course);
  const bool ours = flags.library.format.empty();
  std::FILE* const out = ours ? stdout : stderr;
  if (ours && !all.empty()) fmt::print("{}{}{}", timings_table(all), growth_table(all), overlap_table(all));
  fmt::print(out, "{}{}{}", clocks_in_words(all), doubts_in_words(all), lags_in_words(all));
  std::int64_t findings = say_findings(course, held.required, out);
  for (const std::string& lost : failed_limits(all)) fmt::print(out, "{}\n", lost), ++findings;
  for (const std::string& broken : broken_rules(all)) fmt::print(out, "slow  {}\n", broken), ++findings;
  if (const std::string other = made_elsewhere(held.then, held.made); !other.empty())
    fmt::print(stderr, "plumb: {} was made elsewhere: {}\n", flags.against, other);
  const std::vector<Timings> then = timings_of(held.then);
  if (const std::string lacked = times_lacked(all, then); !flags.against.empty() && !lacked.empty())
    fmt::print(stderr, "plumb: {} has no times of {}\n", flags.against, lacked);
  say_what_became(all, then, out);
  if (flags.in_turns) say_what_turns_came_to(all, out);
  return findings;
}

Origin origin_of(const BenchFlags& flags, const Entries& entries, const nlohmann::json& here) {
  Origin origin;
  origin.started = now_utc(), origin.run = run_drawn(origin.started);
  origin.selection = selection_in_words(flags.selection);
  origin.backends = backends_of(flags.running);
  origin.cases = distinct_cases(entries);
  origin.environment = here;
  return origin;
}

// Cases that it did not come to, or that are too large here.
std::int64_t untimed(const Course& course) {
  return std::ranges::count_if(course.entries, [](const auto& entry) {
    return entry->refused || (entry->failed.empty() && entry->timings.repetitions.empty());
  });
}

void end_record(Journal* journal, Origin& origin, std::int64_t unrun) {
  if (!journal) return;
  origin.unrun = unrun;
  journal->append(last_line(origin));
}

std::vector<Record> timed_before(const std::string& file) {
  const Records read = read_records(file);
  if (read.torn) fmt::print(stderr, "plumb: {}: its last line was not whole and is left out\n", file);
  std::vector<Record> all = read.records;
  if (timings_of(all).empty())
    throw BadInput(fmt::format("{} holds no times: plumb bench --record makes a record that does", file));
  return all;
}

// Throws where nobody takes turns with another.
void refuse_turns_of_one(const std::vector<std::string>& backends) {
  if (backends.size() < 2) throw BadInput("--in-turns compares backends of one run: a second --backend");
  const std::vector<std::string> names = resolved_names(backends);
  if (std::ranges::count(names, names[0]) == std::ssize(names))
    throw BadInput(fmt::format("--in-turns compares backends of one run, and these are one: {}", names[0]));
}

int bench_command(const BenchFlags& flags) {
  HeldTo held{requirements_of(flags), {}, {}};
  const Probes asked = probes_of(flags);
  if (asks_status(condition_of(flags.selection)))
    throw BadInput("--where: plumb run and plumb list know status=, plumb bench looks into no verdicts");
  const Chosen chosen = choose(flags.selection);
  if (flags.resume && flags.record.empty()) throw BadInput("--resume needs the --record to go on with");
  if (flags.each_rank && flags.record.empty())
    throw BadInput("--each-rank needs the --record that it is written to");
  if (flags.in_turns) refuse_turns_of_one(flags.running.backends);
  if (!flags.against.empty()) held.then = timed_before(flags.against);
  if (!flags.library.out.empty()) check_writable(flags.library.out);
  ByBackend subjects;
  Course course;
  course.entries = entries_of(chosen, subjects, flags);
  refuse_timed_otherwise(course.entries, timings_of(held.then), flags.against);
  if (flags.dry_run)
    return say_planned(distinct_cases(course.entries), resolved_names(backends_of(flags.running)));
  const auto journal = journal_of(flags.record);
  const nlohmann::json here = circumstances();
  course.repetitions = flags.repetitions, course.quiet = flags.quiet;
  Origin origin = origin_of(flags, course.entries, here);
  LongWork work;
  if (flags.resume) recall(course, journal->before().records, flags, here);
  if (journal) journal->append(first_line(origin));
  course.recorded = [&, made_by = dump(here)](Record&& record) {
    record.run = origin.run;
    if (journal) journal->append(record, made_by);
    held.made.try_emplace(record_key(record.line, record.backend), made_where(record, here));
    if (!flags.quiet && !asked_in_place_of_times(asked))
      work.tell(
          fmt::format("{}/{} repetitions", course.done + 1, course.repetitions * std::ssize(course.entries)));
  };
  try {
    if (const auto code = probe(course, asked)) {
      end_record(journal.get(), origin, 0);
      return *code;
    }
  } catch (const Interrupted&) {
    say_interrupted(flags, false);
    throw;
  }
  const int code = time_all(course, flags);
  work.clear();
  if (code != 3) end_record(journal.get(), origin, untimed(course));
  const std::int64_t findings = say_all(course, flags, held);
  if (code != 0 || findings > 0) return code != 0 ? code : 1;
  return std::ranges::any_of(course.entries, [](const auto& entry) { return entry->refused; }) ? 2 : 0;
}

}  // namespace

void add_bench(CLI::App& app, int& code) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* bench = app.add_subcommand(
      "bench",
      "Time cases, whose first and last results are judged: 0 all well, 1 some are wrong or too slow, 2 bad "
      "input or too large here");
  add_bench_flags(*bench, *flags);
  bench->callback([flags, bench, &code] {
    check_together(*bench);
    code = bench_command(*flags);
  });
}

}  // namespace plumb
