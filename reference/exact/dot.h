// Exact dot products, from the fastest proof to the final arbiter.
#pragma once

#include <cstdint>

#include "reference/exact/exact.h"

namespace plumb {

// A sum of products as hi + lo with |hi + lo - exact| <= error. NaN where nothing is known.
struct Sum2 {
  double hi = 0, lo = 0, error = 0;
};

// Two doubles of equal length, a multiple of 8, padded with zeros.
struct Pair {
  const double* a;
  const double* b;
  std::int64_t length;
};

// Cascaded TwoSum: exact (error 0) unless the terms span more than about 106 bits, else NaN. Any
// finite or other doubles; products may themselves be inexact (fma gives the rest).
Sum2 cascade(const Pair&);

// The sum rounded once to `dtype`; false where `sum` does not decide it.
bool decide(DType, const Sum2& sum, std::uint64_t& bits);

// By superaccumulator.
std::uint64_t dot_slowly(DType, const Pair&);

}  // namespace plumb
