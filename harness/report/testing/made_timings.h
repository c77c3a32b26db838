// Times that the tests of reports make up.
#pragma once

#include <string>

#include "harness/report/timings.h"

namespace plumb {

// Five repetitions, a hundredth apart, whose slowest rank is 1.
inline Timings timed(const std::string& line, double nanoseconds) {
  Timings t{line, "b", {}};
  for (int i = 0; i < 5; ++i) {
    Repetition r;
    r.number = i + 1, r.of = 5, r.stop = "interval";
    r.samples.nanoseconds = {nanoseconds * (1 + i / 100.0)}, r.samples.slowest = {1};
    t.repetitions.push_back(r);
  }
  return t;
}

inline const std::string reduce = "on x=4: reshard f32[1024]+x -> f32[1024]",
                  scatter = "on x=4: reshard f32[1024]+x -> f32[1024@x]",
                  gather = "on x=4: reshard f32[1024@x] -> f32[1024]";

inline Timings beside(Timings t, const char* what, double nanoseconds) {
  for (Repetition& r : t.repetitions) r.limits[what] = nanoseconds;
  return t;
}

}  // namespace plumb
