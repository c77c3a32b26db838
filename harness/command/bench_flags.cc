#include "harness/command/bench_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/compare/paced.h"
#include "harness/select/sample.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t usual_repetitions = 5, most_repetitions = 100;

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
  bench.add_option("--repetitions", f.repetitions, "Of each case, each by programs started anew, that time all cases in an order that is drawn; --in-turns alone: as many as can tell")
      ->check(whole_number(1, most_repetitions))
      ->default_str(std::to_string(usual_repetitions));
  bench.add_option("--batch", f.batch, "Runs without a pause that are one iteration")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  bench.add_option("--budget", f.budget, "Seconds under the clock for each case, over its repetitions; half of that at most for each of its limits")
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
                  "A metric, >=, <=, > or <, and a number or NUMBER*limit: 'busbw>=0.8*limit' (may repeat). Exit code 1 "
                  "where it is not so, or UNSURE. The limit is measured in the same run: of busbw and algbw what ranks "
                  "send round, of gflops the plain GEMM, of median that GEMM or the library's own call, else the "
                  "memory copy of as many bytes. Metrics: " +
                      metrics_help())
      ->check(not_empty("a demand such as busbw>=0.8*limit"))
      ->allow_extra_args(false);
  bench.add_option("--record", f.record, "Append a JSON line for each repetition")->check(file_name());
  bench.add_flag("--each-rank", f.each_rank,
                 "Record when each rank entered and left every iteration, too: scripts/timeline shows it");
  bench.add_flag("--dry-run", f.dry_run, "Read all that is given, say what would be timed, and time nothing");
  bench.add_flag("--resume", f.resume, "Time no repetition that the record has");
  bench
      .add_option(
          "--against", f.against,
          "A record of before, made by --record: each case is FASTER, SLOWER, SAME or UNSURE, by its repetitions "
          "then and now; no exit code comes of it")
      ->check(file_name());
  bench.add_flag("--in-turns", f.in_turns,
                 "Each backend but the first beside the first: FASTER, SLOWER, SAME or UNSURE, by pairs of launches that took "
                 "turns, six --repetitions at least, of more than one comparison more; no exit code comes of it");
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

void add_probes(CLI::App& bench, BenchFlags& f) {
  bench.add_flag("--clock", f.clock,
                 "Is the clock true? Each case in turns (--iterations, 400) with the library's own call in a "
                 "plain loop, timed by the "
                 "library: AGREE (the 95 % interval of the ratio is within 2 %), DISAGREE or UNSURE");
  bench
      .add_option(
          "--links", f.links,
          "Which link between two ranks is slow? 1/1 tries every pair, alone and all pairs of a round at "
          "once; 1/k every k-th round")
      ->check(not_empty("1/1, or a part of the rounds such as 1/4"));
  bench
      .add_option(
          "--soak", f.soak,
          "Repeat proved iterations for so long (90s, 10m, 2h), a line of the record each minute; a wrong "
          "result is named by iteration, rank and device")
      ->check(not_empty("how long, such as 2h"));
}

// What is asked in the place of times, and the flags of times that say nothing to it.
struct InPlaceOfTimes {
  const char* flag;
  std::vector<const char*> without;
};
const InPlaceOfTimes in_place_of_times[] = {
    {"--clock", {"--links", "--soak", "--record"}},
    {"--links", {"--soak", "--iterations"}       },
    {"--soak",  {"--iterations"}                 }
};
constexpr const char* of_times[] = {"--warmups", "--repetitions", "--batch", "--budget", "--sync", "--require",
                                    "--against", "--in-turns", "--each-rank", "--resume", "--benchmark_filter",
                                    "--benchmark_format", "--benchmark_out", "--benchmark_out_format"};

}  // namespace

void check_together(const CLI::App& bench) {
  for (const auto& [flag, without] : in_place_of_times) {
    if (bench.count(flag) == 0) continue;
    std::vector<const char*> all = without;
    all.insert(all.end(), std::begin(of_times), std::end(of_times));
    for (const char* other : all)
      if (bench.count(other) > 0) throw BadInput(fmt::format("{} says nothing to {}", other, flag));
  }
  if (bench.count("--benchmark_out_format") > 0 && bench.count("--benchmark_out") == 0)
    throw BadInput("--benchmark_out_format says nothing without --benchmark_out");
}

void settle_repetitions(BenchFlags& flags, std::size_t cases) {
  const auto fewest = static_cast<std::int64_t>(fewest_in_turns(cases)), at_all = static_cast<std::int64_t>(fewest_in_turns(1));
  if (flags.repetitions == 0) {
    flags.repetitions = flags.in_turns ? std::min(fewest, most_repetitions) : usual_repetitions;
  } else if (flags.in_turns && flags.repetitions < at_all) {
    throw BadInput(fmt::format("--in-turns: of {} --repetitions all is UNSURE, however far apart: {} at least", flags.repetitions, fewest));
  } else if (flags.in_turns && flags.repetitions < fewest) {
    fmt::print(stderr, "plumb: --in-turns: {} --repetitions tell none of {} FASTER or SLOWER, however far apart: {} do\n",
               flags.repetitions, counted(static_cast<std::int64_t>(cases), "case"), fewest);
  }
}

Pace pace_of(const BenchFlags& flags) {
  const Timing timing{flags.warmups, flags.iterations, flags.batch, *sync_named(flags.sync)};
  if (timing.sync == Sync::window && timing.warmups == 0)
    throw BadInput("--sync window takes its width from the warm-ups: --warmups is at least 1");
  return {timing, flags.budget / static_cast<double>(flags.repetitions), 0, flags.each_rank};
}

std::int64_t every_round_of(const BenchFlags& flags) {
  const auto refused = [&] {
    return bad_input("--links: expected 1/1, or a part of the rounds such as 1/4", flags.links, 0);
  };
  Shard part;
  try {
    part = parse_shard(flags.links);
  } catch (const BadInput&) {
    throw refused();
  }
  if (part.part != 1) throw refused();
  return part.of;
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

void add_bench_flags(CLI::App& bench, BenchFlags& f) {
  add_selection(bench, f.selection, false);
  bench.add_flag("--per-device", f.per_device,
                 "Sizes of dimensions that are split are those of a device: a larger mesh has larger arrays");
  bench
      .add_option(
          "--backend", f.running.backends,
          "NAME[@RELEASE][,option=value...], or a command that speaks the protocol (may repeat); default: "
          "$PLUMB_BACKEND, else local")
      ->check(not_empty("the name of a backend, or a command"))
      ->allow_extra_args(false);
  bench
      .add_option("--timeout", f.running.limits.timeout,
                  "Seconds that a backend has to start, to compile, and to run beside its iterations and warm-ups, which have four times "
                  "what they are known to take")
      ->check(positive());
  add_clock(bench, f);
  add_results(bench, f);
  add_probes(bench, f);
}

}  // namespace plumb
