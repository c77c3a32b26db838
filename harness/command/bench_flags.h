// What plumb bench is asked.
#pragma once

#include "harness/command/course.h"
#include "harness/command/flags.h"
#include "harness/command/selection.h"
#include "harness/measure/require.h"

namespace plumb {

struct BenchFlags {
  Selection selection;
  RunningFlags running;
  std::int64_t warmups = 2, iterations = 0, batch = 1;
  std::int64_t repetitions = 0;  // 0: settle_repetitions()
  double budget = 0.3;
  std::string sync = "barrier", record, against;
  bool in_turns = false, resume = false, dry_run = false, per_device = false;
  std::vector<std::string> required;
  LibraryFlags library;
  bool quiet = false, each_rank = false;
  // In the place of times; each empty or false where it is not asked.
  bool clock = false;
  std::string links, soak;
};
void add_bench_flags(CLI::App&, BenchFlags&);

// Throws BadInput where a flag was given that says nothing to another one.
void check_together(const CLI::App&);

// Where none was given: five, or in turns as many as tell one of so many cases that are held to another backend's. Says where
// what was given tells none; throws BadInput where it tells nothing at all.
void settle_repetitions(BenchFlags&, std::size_t cases);

// How a repetition is timed, which rounds of links are tried, and what is demanded. Throw BadInput.
Pace pace_of(const BenchFlags&);
std::int64_t every_round_of(const BenchFlags&);
std::vector<Requirement> requirements_of(const BenchFlags&);

}  // namespace plumb
