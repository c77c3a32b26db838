// Is the clock true?
#pragma once

#include <string>
#include <vector>

#include "harness/run/measured.h"

namespace plumb {

// Two clocks on one case, in one launch, in turns: ours around what a backend does for it, and the library's
// own around its plain call, in a loop of a few lines. The medians of each turn, in nanoseconds.
struct Pairs {
  std::vector<double> ours, plain;
  std::string failed;  // why there are none
};
Pairs clock_pairs(const Case&, Subject&, const Timing&, std::int64_t pairs);

}  // namespace plumb
