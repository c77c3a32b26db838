// Exact dot products, from the fastest proof to the final arbiter.
#pragma once

#include <cstdint>

#include "reference/words/dtype.h"

namespace plumb {

// A sum of products as hi + lo with |hi + lo - exact| <= error. hi is NaN where nothing is known.
struct Sum2 {
  double hi = 0, lo = 0, error = 0;
};

// Two rows of doubles of equal length, a multiple of 8, padded with zeros.
struct Pair {
  const double* a;
  const double* b;
  std::int64_t length;
};

// Cascaded TwoSum: exact (error 0), or unknown where the terms span more than about 106 bits. Any
// doubles; the products may themselves be inexact.
Sum2 cascade(const Pair&);

// Compensated: `bound` is at least the sum of |a b|, and no product is below 2^-900 but zero. With u =
// 2^-53, the errors that are summed up are at most u (n + 1) bound together, and their sum is off by at
// most u (n/8 + 12) of that.
Sum2 compensated(const Pair&, double bound);

// Two bins: for products that are exact in double. `bound` is at least the sum of |a b|; `ratio` at least
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

// The sum rounded once to `dtype`; false where `sum` does not decide it.
bool decide(DType, const Sum2& sum, std::uint64_t& bits);

// By superaccumulator.
std::uint64_t dot_slowly(DType, const Pair&);

}  // namespace plumb
