// plumb bench: times cases whose results are right.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "adapters/protocol/json.h"
#include "harness/backend/interrupt.h"
#include "harness/command/against.h"
#include "harness/command/command.h"
#include "harness/command/entries.h"
#include "harness/command/files.h"
#include "harness/command/probes.h"
#include "harness/command/recall.h"
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

// Times of one thing are compared with those of another by nobody: throws before any is taken.
void refuse_timed_otherwise(const Entries& entries, const std::vector<Timings>& then,
                            const std::string& record) {
  for (const auto& entry : entries)
    for (const Timings& t : then)
      for (const Repetition& r : t.repetitions)
        if (const std::string other = timed_otherwise(r.timing, entry->pace.timing);
            is_of(t, *entry) && !other.empty())
          throw BadInput(fmt::format("--against: {} was timed otherwise: {}", record, other));
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
    fmt::print(out, "{}  {}  {}\n    {}; rank {}\n",
               how == Met::no       ? "required"
               : how == Met::unsure ? "UNSURE"
                                    : "unjudged",
               t.backend, t.line, unmet(r, f), slow_one(t));
    ++findings;
  }
  return findings;
}

// Why a case has no times; empty where it has some, or nobody came to it.
std::string failed(const Entry& entry) {
  const Timings& t = entry.timings;
  if (!entry.failed.empty() || !medians(t).empty()) return entry.failed;
  if (!entry.lost.empty()) return entry.lost.back().why;
  return t.repetitions.empty() ? "" : no_times(t.repetitions.back());
}

std::int64_t say_not_timed(const Entry& entry, const std::string& why, std::FILE* out) {
  const std::string& words = entry.failed.empty() && !entry.lost.empty() ? entry.lost.back().last_words : entry.last_words;
  if (!entry.refused)
    fmt::print(out, "not timed  {}  {}\n    {}\n{}", entry.timings.backend, entry.timings.line, why, said_last(words));
  return entry.refused ? 0 : 1;
}

// Of a case that has times: the repetitions that have none, for their backend failed.
std::int64_t say_lost(const Entry& entry, std::FILE* out) {
  if (entry.lost.empty()) return 0;
  const LostRepetition& first = entry.lost.front();
  const auto n = entry.lost.size();
  fmt::print(out, "failed  {}  {}\n    {} of {} repetitions {} no times{}, the first number {}: {}\n{}", entry.timings.backend,
             entry.timings.line, n, n + entry.timings.repetitions.size(), n == 1 ? "has" : "have",
             in_vain(entry) ? ", two in a row, and no more was asked for" : "", first.number, first.why, said_last(first.last_words));
  return 1;
}

// The cases that were not timed, and what was demanded in vain; the number of both.
std::int64_t say_findings(const Course& course, const std::vector<Requirement>& required, std::FILE* out) {
  std::int64_t findings = 0, timed = 0;
  std::vector<std::int64_t> held(required.size());
  for (const auto& entry : course.entries) {
    const Timings& t = entry->timings;
    const std::string why = failed(*entry);
    if (!why.empty()) findings += say_not_timed(*entry, why, out);
    if (!why.empty() || t.repetitions.empty()) continue;
    ++timed, findings += say_unmet(t, required, held, out) + say_lost(*entry, out);
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
    return entry->refused || (failed(*entry).empty() && entry->timings.repetitions.empty());
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

// Of a dry run, which starts no program: the cases that are not too large here for any.
int say_what_fits(Entries& entries, const BenchFlags& flags) {
  std::set<std::string> reasons;
  std::erase_if(entries, [&](const auto& entry) {
    const std::string why = too_large_to_time_by_any(entry->c, *entry->subject);
    if (!why.empty() && reasons.insert(why).second) fmt::print(stderr, "plumb: unrun: {}\n", why);
    return !why.empty();
  });
  if (!entries.empty()) say_planned(distinct_cases(entries), resolved_names(backends_of(flags.running)));
  return reasons.empty() ? 0 : 2;
}

int bench_command(BenchFlags flags) {
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
  Origin origin;
  LongWork work;
  ByBackend subjects;
  Course course;
  course.entries = entries_of(chosen, subjects, flags, says_parted(origin, [&] { work.clear(); }));
  settle_repetitions(flags, course.entries.size() - static_cast<std::size_t>(distinct_cases(course.entries)));
  for (const auto& entry : course.entries) entry->pace = pace_of(flags);
  refuse_timed_otherwise(course.entries, timings_of(held.then), flags.against);
  if (flags.dry_run) return say_what_fits(course.entries, flags);
  const auto journal = journal_of(flags.record);
  const nlohmann::json here = circumstances();
  course.repetitions = flags.repetitions, course.quiet = flags.quiet;
  origin = origin_of(flags, course.entries, here);
  try {
    if (flags.resume) recall(course, journal->before().records, flags, here);
  } catch (const Interrupted&) {
    say_interrupted(flags, true);
    throw;
  }
  if (journal) journal->append(first_line(origin));
  course.recorded = [&, made_by = dump(here)](Record&& record) {
    record.run = origin.run;
    if (journal) journal->append(record, made_by);
    held.made.try_emplace(record_key(record.line, record.backend), made_where(record, here));
  };
  if (!flags.quiet) course.tell = [&](const std::string& how) { work.tell(how); };
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
  for (auto& [_, subject] : subjects) process_of(subject).stop();
  work.clear();
  if (code != 3) end_record(journal.get(), origin, untimed(course));
  const std::int64_t findings = say_all(course, flags, held) + std::ssize(origin.afterwards);
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
