// The local part of a product: every device multiplies the blocks it has.
#pragma once

#include "adapters/plan/plan.h"
#include "adapters/rank/blocks.h"

namespace plumb {

// The parts of the product, in the layout product.out_spec, kept as acc. Every element is a plain sum of
// products, each addition rounded to acc: of large products in f32 and f64 in an order of OpenBLAS's, else in
// ascending order of the contracted index; integers wrap.
void multiply(const Plan&, const Blocks& lhs, const Blocks& rhs, Blocks& out);

}  // namespace plumb
