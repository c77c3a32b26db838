// What times owe each other, without a baseline.
#pragma once

#include <string>
#include <vector>

#include "harness/report/timings.h"

namespace plumb {

// A sentence for each rule that is broken beyond the noise, by cases of one backend, mesh and dtype: even the
// fastest repetition of the one (their medians) is slower than the slowest ones of what it is held to. At
// least four each.
//   an all-reduce takes no longer than a reduce-scatter and an all-gather of as many bytes
//   a larger message takes no less time than a smaller one
//   a reshard takes no longer than to make the whole array of the same operand on every device, and to copy
//   it a grouped product of equal sizes takes no longer than a loop over the experts of a device
std::vector<std::string> broken_rules(const std::vector<Timings>&);

}  // namespace plumb
