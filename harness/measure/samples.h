// What the clocks of a case's ranks come to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/measure/clocks.h"

namespace plumb {

// Of each iteration that no rank began late. Law: no time is 0. Its time is that of the slowest rank, for one run of its batch.
struct Samples {
  std::vector<double> nanoseconds;
  std::vector<std::int64_t> slowest;  // the rank
  std::vector<std::int64_t> skew;     // between the first entry and the last, on one clock (clocks.h); none
                                      // where, of a request, it is below what is known of clocks
  std::int64_t late = 0;              // iterations that were dropped
  std::vector<ClockSeen> clocks;      // of the other hosts
  std::int64_t span = 0;              // from the first entry of rank 0 to the last time that it left, of each request
  std::vector<Clocked> ranks{};       // what each said of every iteration, where it is kept
  std::int64_t unseen = 0;            // iterations left out that took no time by any rank's clock: it is too coarse
};
Samples samples(const std::vector<Clocked>&, std::int64_t batch);

// Of two requests of one case, one after the other. Law: there is a skew of each iteration, or of none.
void take_in(Samples&, const Samples& more);

// Keeps what each rank said.
void keep(Samples&, const std::vector<Clocked>&);

// How long each rank was outside of its collectives in a run, of which it said when it entered it, each of
// them, and when it left: while one is longer outside than the others, they wait for it inside, and all take
// as long.
std::vector<std::int64_t> own_times(const std::vector<Clocked>& collectives);

// The rank for which the others wait: outside of its collectives longer in each run than any other in any
// run. At least four runs. Law: nobody of one rank.
struct Waited {
  std::int64_t rank = 0;
  double least = 0, others = 0;  // nanoseconds outside: its shortest run, the longest of the others
};
std::optional<Waited> waited_for(const std::vector<std::vector<std::int64_t>>& outside_of_runs);

// The rank that was the slowest most often, and in which share of the iterations. Law: -1 and 0 of none.
struct Laggard {
  std::int64_t rank = -1;
  double share = 0;
};
Laggard laggard(const Samples&);

}  // namespace plumb
