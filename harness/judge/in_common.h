// Errors that elements of a product have in common: an operand may be rounded before it is multiplied, where
// it is unfinished or the accumulator does not hold its values, and what each of its elements is wrong by
// then reaches all that are made of it.
#pragma once

#include "harness/judge/wanted.h"
#include "reference/rounding/reduction.h"

namespace plumb {

// Elements of one class may share an error: of [m,k] [k,n] -> [m,n] the row where the left operand may be
// rounded, the column where the right may, each with k errors that it can be made of.
struct InCommon {
  std::vector<std::int64_t> classes;  // of each element of the result
  std::int64_t errors = 0;            // of each class
};
// One for each operand of a product that may be rounded.
std::vector<InCommon> errors_in_common(const Wanted&, const Reduction&);

// The variance that these errors give each element of the result, f64, at most; no element where there are
// none. With M = x^2 + the variance of x of each element of an operand, it is what the product makes of M_a
// and M_b less what it makes of the squares.
Tensor variance_in_common(const Wanted&, const Reduction&);

}  // namespace plumb
