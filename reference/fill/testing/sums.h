// For tests: every sum that a case asks for as a list of terms, worked out from the letters alone, and
// arithmetic that rounds after every addition.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

// One term of an element of the result: a product of one part of each operand, or a part of a reshard's
// operand with b = 1. Terms of a block are never separated by the splits of the operands.
struct Term {
  double a = 0, b = 1;
  std::int64_t block = 0;     // of contracted_cuts()
  std::int64_t position = 0;  // the flat contracted index
  std::int64_t part = 0;      // of the operands, the left one's major
};

// The terms of every element of the result.
std::vector<std::vector<Term>> all_terms(const Case&, const std::vector<Tensor>& operands);

// The terms added in a random order and association, each sum rounded to `dtype`.
double added(DType dtype, std::vector<double> terms, std::mt19937_64&);

// The exact sum, rounded to nothing: terms and sum are multiples of 2^exponent below 2^127 of them.
__int128 exact(const std::vector<Term>&, int exponent);

inline double rounded(DType dtype, double x) { return decode(dtype, encode(dtype, x)); }

}  // namespace plumb
