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

// The sum rounded once to `dtype`; false where `sum` does not decide it. The sums above begin at +0, and none
// is -0.
bool rounded_once(DType, const Sum2& sum, std::uint64_t& bits);

// By superaccumulator.
std::uint64_t dot_slowly(DType, const Pair&);

}  // namespace plumb
