// Where a product is computed.
#pragma once

#include <optional>

#include "adapters/plan/plan.h"

namespace plumb {

// The layouts in which each device multiplies its own blocks: every letter is cut by axes of its own,
// the same in both operands, and the product is unfinished over the axes of the contracted letters. Of
// all layouts in which each axis cuts a letter that it cuts in an operand or the first result, or none,
// the one that moves the fewest bytes, then the one with the smallest blocks. Nothing for a reshard.
std::optional<LocalProduct> local_product(const Case&);

}  // namespace plumb
