// Which terms of a product the devices of a plan add up.
#pragma once

#include <optional>
#include <vector>

#include "harness/judge/plan_moves.h"

namespace plumb {

bool twice(const std::vector<AxisId>& axes);  // whether one stands twice

// Operands that hold other pieces of one letter on some device.
std::optional<Fact> contradicts(const Case&, const Einsum&, const Layouts&);

// Of a result of finished operands that is finished by sums over these axes: an element that lacks a term, or
// has one twice.
std::optional<Fact> computes(const Case&, const Einsum&, const Layouts&, const std::vector<AxisId>& axes);

}  // namespace plumb
