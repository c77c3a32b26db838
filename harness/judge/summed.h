// Over which axes a case adds, and what each device sees of its sums.
#pragma once

#include "harness/judge/wanted.h"

namespace plumb {

// The axes over which an operand is unfinished or a contracted dimension is split.
std::vector<AxisId> summed_axes(const Op&);

// The operands with what a device does not see of the chosen axes taken away: the other parts of an
// unfinished operand, the other pieces of a contracted dimension. Law: over the coordinates along the
// chosen axes what they mean adds up to the whole.
std::vector<Tensor> seen(const Wanted&, const std::vector<AxisId>& chosen, std::int64_t device);

}  // namespace plumb
