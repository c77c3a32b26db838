// Is the clock true?
#pragma once

#include <string>
#include <vector>

#include "harness/run/measured.h"

namespace plumb {

// Two clocks on one case, in one launch, in turns: ours around what a backend does for it, and the library's
// own around its plain call. What each turn took its slowest rank, in nanoseconds; a turn of the one stands
// beside one of the other.
struct Pairs {
  std::vector<double> ours, plain;
  std::string failed;  // why there are none
  bool comes_to_a_call = true;
  std::vector<std::string> notes{};  // the backend's, of the case
};
Pairs clock_pairs(const Case&, Subject&, std::int64_t pairs);

}  // namespace plumb
