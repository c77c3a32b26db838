// What a device needs of a grouped product's operands: the weights of groups that it has rows of, and the
// rows of groups that it computes.
#pragma once

#include "adapters/plan/plan.h"

namespace plumb {

// Takes from a leg that brings operand `which` to the layout of a grouped product the copies that
// nobody will read; a leg that adds anything up stays as it is. What does not arrive stays poisoned.
void spare(const Plan&, int which, Leg&);

// Elements that the leg, without them, copies from device to device.
std::int64_t copied(const Leg&);

}  // namespace plumb
