// Which sums were left unfinished, or parts reduced in another way?
#pragma once

#include "harness/judge/blocks.h"
#include "harness/judge/verdict.h"

namespace plumb {

// Tries other reductions of the parts, then every set of axes over which the case adds: whether each device
// holds exactly what it would hold had the sum over these axes been left unfinished. Empty where none
// explains every device to the bit.
std::vector<Explanation> cause(const Wanted&, const std::vector<Held>&);
std::int64_t causes_tried(const Case&);  // at most

}  // namespace plumb
