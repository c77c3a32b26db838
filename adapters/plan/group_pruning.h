// What the legs of a grouped product need not send.
#pragma once

#include <span>

#include "adapters/plan/plan.h"

namespace plumb {

// Takes from the legs that bring operand `which` to the layout of the product the copies that nobody will
// read or pass on. A leg that adds anything up stays as it is, and so do those before it. What does not
// arrive stays poisoned.
void spare(const Plan&, int which, std::span<Leg>);

// Takes from the legs of the result the parts that are zeros: sums of nothing.
void spare_zeros(const Plan&, std::span<Leg>);

}  // namespace plumb
