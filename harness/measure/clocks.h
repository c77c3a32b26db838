// Clocks of several hosts: how far apart, and how fast they drift.
#pragma once

#include <vector>

#include "adapters/protocol/timing.h"

namespace plumb {

// Of a rank whose clock is another than that of the first: by how many nanoseconds the first is ahead of it
// at the first iteration, and how many more it is each second; each give or take its error.
struct ClockSeen {
  std::int64_t rank = 0;
  double offset = 0, error = 0;
  double drift = 0, drift_error = 0;
};

// Those of the ranks that saw the first one's clock twice, one rank for each clock.
std::vector<ClockSeen> clocks_seen(const std::vector<Clocked>&);

// A time of a rank's clock on that of the first, on the line through what it saw before and after. Of a rank
// that saw nothing it is the time itself.
double on_first_clock(const Clocked&, std::int64_t time);

// How far from the truth that is at most, between both; 0 of a rank that saw nothing.
double error_of_clock(const Clocked&);

}  // namespace plumb
