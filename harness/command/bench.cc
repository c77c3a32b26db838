// plumb bench: times cases whose results are right.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "adapters/protocol/json.h"
#include "harness/backend/interrupt.h"
#include "harness/command/command.h"
#include "harness/command/course.h"
#include "harness/command/flags.h"
#include "harness/command/selection.h"
#include "harness/command/session.h"
#include "harness/measure/compare.h"
#include "harness/measure/statistics.h"
#include "harness/record/environment.h"
#include "harness/record/journal.h"
#include "harness/report/expected.h"
#include "harness/report/progress.h"
#include "harness/run/pairs.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct BenchFlags {
  Selection selection;
  RunningFlags running;
  std::int64_t warmups = 2, iterations = 0, batch = 1, repetitions = 5;
  double budget = 0.3;
  std::string sync = "barrier", record, against;
  bool resume = false;
  std::vector<std::string> required;
  LibraryFlags library;
  bool quiet = false, clock = false;
};

Pace pace_of(const BenchFlags& flags) {
  const Timing timing{flags.warmups, flags.iterations, flags.batch, *sync_named(flags.sync)};
  if (timing.sync == Sync::window && timing.warmups == 0)
    throw BadInput("--sync window takes its width from the warm-ups: --warmups is at least 1");
  return {timing, flags.budget / static_cast<double>(flags.repetitions)};
}

std::vector<Requirement> requirements_of(const BenchFlags& flags) {
  std::vector<Requirement> all;
  for (const std::string& text : flags.required) try {
      all.push_back(parse_requirement(text));
    } catch (const BadInput& error) {
      throw of_flag("--require", error);
    }
  return all;
}

// Repetitions that a record has of the same pace: a run that is resumed does not time them again.
std::vector<Repetition> before(const std::vector<Timings>& all, const Entry& entry) {
  std::vector<Repetition> same;
  for (const Timings& t : all)
    for (const Repetition& r : t.repetitions) {
      const Timing &was = r.timing, &is = entry.pace.timing;
      const bool alike = was.sync == is.sync && was.batch == is.batch && was.warmups == is.warmups &&
                         was.iterations == is.iterations;
      if (t.line == entry.timings.line && t.backend == entry.timings.backend && alike) same.push_back(r);
    }
  return same;
}

using ByBackend = std::map<std::string, Subject>;

void add_entries(Course& course, const Chosen& chosen, ByBackend& subjects, const BenchFlags& flags) {
  for (std::int64_t n : chosen.numbers)
    for (const std::string& backend : backends_of(flags.running)) {
      auto at = subjects.find(backend);
      if (at == subjects.end())
        at = subjects.emplace(backend, Subject(backend, settings(flags.running))).first;
      auto entry = std::make_unique<Entry>(Entry{nth(chosen.cases, n), &at->second, pace_of(flags), {}});
      entry->timings = {print(entry->c), at->second.name, {}};
      course.entries.push_back(std::move(entry));
    }
}

void draw(const Course& course) {
  if (!moves_its_cursor(STDERR_FILENO)) return;
  draw_progress(
      fmt::format("{}/{} repetitions", course.done + 1, course.repetitions * std::ssize(course.entries)));
}

// The cases that were not timed, and what was demanded in vain; the number of both.
std::int64_t say_findings(const Course& course, const std::vector<Requirement>& required, std::FILE* out) {
  std::int64_t findings = 0;
  for (const auto& entry : course.entries) {
    const Timings& t = entry->timings;
    if (!entry->failed.empty())
      fmt::print(out, "not timed  {}  {}\n    {}\n", t.backend, t.line, entry->failed), ++findings;
    if (!entry->failed.empty() || t.repetitions.empty()) continue;
    const Figured f = figured(t);
    for (const Requirement& r : required) {
      const Met how = met(r, f);
      if (how == Met::unsaid) fmt::print(stderr, "plumb: {}: nothing to hold it to on {}\n", r.text, t.line);
      if (how != Met::no) continue;
      fmt::print(out, "required  {}  {}\n    {}; rank {} was the slowest\n", t.backend, t.line, unmet(r, f),
                 laggard(together(t)).rank);
      ++findings;
    }
  }
  return findings;
}

std::vector<Timings> timed_cases(const Course& course) {
  std::vector<Timings> all;
  for (const auto& entry : course.entries)
    if (!medians(entry->timings).empty()) all.push_back(entry->timings);
  return all;
}

// Each case against what a record has of it.
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

void check_out(const BenchFlags& flags) {
  if (flags.library.out.empty()) return;
  if (!std::ofstream(flags.library.out, std::ios::app))
    throw BadInput(fmt::format("--benchmark_out: {}: {}", flags.library.out, std::strerror(errno)));
}

// Of each case: does our clock say what the library's own says of its plain call?
int compare_clocks(const Course& course, std::int64_t pairs) {
  bool disagree = false;
  for (const auto& entry : course.entries) {
    const Pairs turns = clock_pairs(entry->c, *entry->subject, pairs);
    const auto ratio = ratio_of_pairs(turns.ours, turns.plain);
    const std::string in_numbers =
        ratio ? fmt::format(
                    "{:.3f} ({:.3f} to {:.3f}) times the plain call, by {} pairs; {:.4g} us and {:.4g} us",
                    ratio->middle, ratio->interval.low, ratio->interval.high, turns.ours.size(),
                    quantile(turns.ours, 0.5) / 1000, quantile(turns.plain, 0.5) / 1000)
        : turns.failed.empty() ? std::string("too few pairs")
                               : turns.failed;
    fmt::print("{:<8} {}  {}\n    {}\n", name(agreement(ratio)), entry->timings.backend, entry->timings.line,
               in_numbers);
    std::fflush(stdout);
    disagree |= agreement(ratio) == Agreement::disagree;
  }
  return disagree ? 1 : 0;
}

int bench_command(const BenchFlags& flags) {
  const std::vector<Requirement> required = requirements_of(flags);
  const Chosen chosen = choose(flags.selection);
  if (flags.resume && flags.record.empty()) throw BadInput("--resume needs the --record to go on with");
  check_out(flags);
  const auto then =
      flags.against.empty() ? std::vector<Timings>{} : timings_of(read_records(flags.against).records);
  const auto journal = flags.record.empty() ? nullptr : std::make_unique<Journal>(flags.record);
  const std::string made_by = dump(environment());
  ByBackend subjects;
  Course course;
  course.repetitions = flags.repetitions;
  course.recorded = [&](Record&& record) {
    if (journal) journal->append(record, made_by);
    if (!flags.quiet) draw(course);
  };
  add_entries(course, chosen, subjects, flags);
  if (course.entries.empty()) throw BadInput("no case is selected, nothing was timed");
  if (flags.clock) return compare_clocks(course, flags.iterations > 0 ? flags.iterations : 400);
  const auto recalled = flags.resume ? timings_of(journal->before().records) : std::vector<Timings>{};
  for (const auto& entry : course.entries) entry->before = before(recalled, *entry);
  int code = 0;
  try {
    if (run(course, flags.library) == 0)
      throw BadInput(fmt::format("--benchmark_filter: no case matches {}", flags.library.filter));
  } catch (const Interrupted&) {
    code = 130;
  } catch (const std::system_error& error) {
    fmt::print(stderr, "plumb: {}\n", error.what());
    code = 3;
  }
  if (moves_its_cursor(STDERR_FILENO) && !flags.quiet) clear_progress();
  const std::vector<Timings> all = timed_cases(course);
  const bool ours = flags.library.format.empty();
  if (ours && !all.empty()) fmt::print("{}", timings_table(all));
  std::int64_t findings = say_findings(course, required, ours ? stdout : stderr);
  for (const std::string& broken : broken_rules(all))
    fmt::print(ours ? stdout : stderr, "slow  {}\n", broken), ++findings;
  if (ours) say_what_became(all, then);
  return code != 0 ? code : findings > 0 ? 1 : 0;
}

void add_clock(CLI::App& bench, BenchFlags& f) {
  bench.add_option("--warmups", f.warmups, "Runs before the first iteration")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  bench
      .add_option(
          "--iterations", f.iterations,
          "Of each repetition; default: until the median's 95 % interval is within 2 % of it, or the budget "
          "is spent")
      ->check(whole_number(1, 10'000));
  bench.add_option("--repetitions", f.repetitions, "Of each case, those of all cases in an order drawn anew")
      ->check(whole_number(1, 100))
      ->capture_default_str();
  bench.add_option("--batch", f.batch, "Runs without a pause that are one iteration")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  bench.add_option("--budget", f.budget, "Seconds under the clock for each case, over its repetitions")
      ->check(positive())
      ->capture_default_str();
  bench
      .add_option(
          "--sync", f.sync,
          "How ranks begin an iteration: barrier, window (at a time on which they agreed; who is late is "
          "dropped and counted), none")
      ->check(CLI::IsMember({"barrier", "window", "none"}))
      ->capture_default_str();
}

void add_results(CLI::App& bench, BenchFlags& f) {
  bench
      .add_option("--require", f.required,
                  "METRIC RELATION NUMBER or NUMBER*limit, such as 'busbw>=0.8*limit' (may repeat): " +
                      metrics_help())
      ->check(not_empty("METRIC RELATION NUMBER"))
      ->allow_extra_args(false);
  bench.add_option("--record", f.record, "Append a JSON line for each repetition")->check(file_name());
  bench.add_flag("--resume", f.resume, "Time no repetition that the record has");
  bench
      .add_option(
          "--against", f.against,
          "A record of before: each case is FASTER, SLOWER, SAME or UNSURE, by its repetitions then and now")
      ->check(file_name());
  bench.add_flag("--clock", f.clock,
                 "Is the clock true? Each case in turns (--iterations, 400) with the library's own call in a "
                 "plain loop, timed by the "
                 "library: AGREE (the 95 % interval of the ratio is within 2 %), DISAGREE or UNSURE");
  bench.add_flag("--quiet", f.quiet, "No line of progress");
  bench.add_option("--benchmark_filter", f.library.filter,
                   "Google Benchmark's: a regular expression on LINE on BACKEND");
  bench.add_option("--benchmark_format", f.library.format, "Google Benchmark's table in the place of ours")
      ->check(CLI::IsMember({"console", "json", "csv"}));
  bench.add_option("--benchmark_out", f.library.out, "A file that Google Benchmark writes")
      ->check(file_name());
  bench.add_option("--benchmark_out_format", f.library.out_format, "json or csv")
      ->check(CLI::IsMember({"json", "csv", "console"}));
}

}  // namespace

void add_bench(CLI::App& app, int& code) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* bench = app.add_subcommand(
      "bench",
      "Time cases, whose first and last results are judged: 0 all well, 1 some are wrong or too slow");
  add_selection(*bench, flags->selection);
  bench
      ->add_option(
          "--backend", flags->running.backends,
          "NAME[@RELEASE][,option=value...], or a command that speaks the protocol (may repeat); default: "
          "$PLUMB_BACKEND, else local")
      ->check(not_empty("the name of a backend, or a command"))
      ->allow_extra_args(false);
  bench
      ->add_option("--timeout", flags->running.limits.timeout,
                   "Seconds that a backend has to start, to compile, and to run beside its iterations")
      ->check(positive());
  add_clock(*bench, *flags);
  add_results(*bench, *flags);
  bench->callback([flags, &code] { code = bench_command(*flags); });
}

}  // namespace plumb
