// The local part of a product: every device multiplies the blocks it has.
#pragma once

#include "adapters/plan/plan.h"
#include "adapters/rank/blas.h"
#include "adapters/rank/blocks.h"

namespace plumb {

// The parts of the product, in the layout product.out_spec, kept as acc. Every element is a plain sum of
// products, each addition rounded to acc: of large products in f32 and f64 in an order of OpenBLAS's, else in
// ascending order of the contracted index; integers wrap.
void multiply(const Plan&, const Blocks& lhs, const Blocks& rhs, Blocks& out);

// What it comes to for the devices of a holder, as plain products of matrices: one for each device and batch,
// or run of rows of a group; none where the plan has no product.
std::vector<ProductSize> plain_products(const Plan&, const Holder&);

}  // namespace plumb
