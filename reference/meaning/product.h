// The one product from which einsum and grouped matmul are made.
#pragma once

#include <string>

#include "reference/words/tensor.h"

namespace plumb {

// An array and a letter for each dimension.
struct Lettered {
  const Tensor& values;
  std::string letters;
};

// An array of sums over all letters that `letters` lacks.
struct Summed {
  std::string letters;
  DType acc, dtype;
};

// The sum of products of both terms, exact, then rounded once; integers wrap. Where a letter stands in
// one term alone the other repeats. Every letter wanted stands in a term.
Tensor product(const Lettered& a, const Lettered& b, const Summed& wanted);

}  // namespace plumb
