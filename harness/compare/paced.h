// What became of times between two runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/compare.h"
#include "harness/report/timings.h"

namespace plumb {

// Of a case that both have timed, by its repetitions then and now.
struct Paced {
  std::string line, backend;
  Became became = Became::unsure;
  std::optional<Ratio> ratio;  // now to then; nothing of fewer than four repetitions on either side
};
std::vector<Paced> paced(const std::vector<Timings>& then, const std::vector<Timings>& now);

// "SLOWER  mpi  on x=4: reshard f32[8]+x -> f32[8]: 1.120 (1.100 to 1.140) times as long"
std::string paced_in_words(const Paced&);

}  // namespace plumb
