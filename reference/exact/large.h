// Products of matrices too large for one dot at a time.
#pragma once

#include "reference/exact/exact.h"

namespace plumb {

// c = a b, rounded once, by a dgemm and proofs:
//   lattice  |a_i| |b_j| / (u_i v_j) < 2^53, u and v the units of row and column: every partial sum
//            in any order is a multiple of u_i v_j below 2^53 of them, so the dgemm was exact
//   Ziv      both ends of [x - e, x + e], e = gamma |a_i| |b_j|, round to one element
//   halves   in place of that dgemm three, exact in two doubles (halves.h)
//   bins     a dot product in two bins (bins.h), exact or with an error so small that Ziv's test
//            nearly always decides
//   arbiter  the superaccumulator
void multiply_large(const Matrix& a, const Matrix& b, const MutableMatrix& c);

// The least number of products for which it pays.
inline constexpr std::int64_t kLarge = 1 << 12;

}  // namespace plumb
