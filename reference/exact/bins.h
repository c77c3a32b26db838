// Exact dot products in two bins.
#pragma once

#include <cstdint>

#include "reference/exact/dot.h"

namespace plumb {

// For products that are exact in double. `bound` is at least the sum of |a b|; `ratio` at least
// bound / the largest power of two that divides every product.
//
// T starts at 6 * 2^E with 2^E > bound and stays in its binade, so t = T + ab, q = t - T and ab - q
// are without error but for the first, and what T cuts off is kept: L += ab - q. Each ab - q is at most
// 2^(E-51), so L is exact while length * 2^(E-51) is below 2^53 units, and off by at most
// length^2 * 2^(E-104) otherwise.
struct Bins {
  double start;  // of T
  double error;
};
Bins bins(double bound, double ratio, std::int64_t length);
Sum2 two_bins(const Pair&, const Bins&);

// The same for 4 rows and 2 columns at once, each `stride` apart; bins and sums row-major.
inline constexpr int kBlockRows = 4, kBlockCols = 2;
void two_bins_block(const Pair& first, std::int64_t stride, const Bins* bins, Sum2* sums);

}  // namespace plumb
