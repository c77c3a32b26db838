// Where a product is computed.
#pragma once

#include <optional>

#include "adapters/plan/plan.h"

namespace plumb {

// The layouts in which each device multiplies its own blocks: every letter is cut by axes of its own,
// the same in both operands, and the product is unfinished over the axes of the contracted letters.
// Chosen among the layouts that take the axes of each letter from the operands and the first result in
// some order, and those that leave the contracted letters whole, as the one that moves the fewest
// bytes, then the one with the smallest blocks. Nothing for a reshard.
std::optional<Product> product(const Case&);

}  // namespace plumb
