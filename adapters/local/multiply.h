// The local part of a product: every rank multiplies the blocks it has.
#pragma once

#include "adapters/local/ranks.h"
#include "adapters/plan/plan.h"

namespace plumb {

// The parts of the product, in the layout product.out_spec, kept as acc. Every element is a plain sum of
// products in ascending order of the contracted index, each addition rounded to acc; integers wrap.
Ranks multiply(const Plan&, const Ranks& lhs, const Ranks& rhs);

}  // namespace plumb
