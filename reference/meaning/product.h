// The one product from which einsum and grouped matmul are made.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"
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

// A sum of parts (the leading dimension) in as few parts as hold it exactly: the sum rounded to the
// dtype, then what that left over, rounded again, and so on; where one is enough the dimension goes.
// Integers give one part of s32, where their sums wrap. Parts whose sum is not finite stay as they are.
Tensor settle(Tensor parts);

// An operand of a product. An unfinished one is settled; where parts are left they are one more letter,
// which the sum runs over: (p + q) b = p b + q b.
struct Factor {
  const Tensor& given;
  std::optional<Tensor> settled;
  int operand;
  const Tensor& values() const { return settled ? *settled : given; }
  std::string letters(std::string_view dims) const {
    std::string named;
    if (values().shape.size() > dims.size()) named += static_cast<char>('0' + operand);
    return named += dims;
  }
};
Factor factor(const Case&, const std::vector<Tensor>& operands, int i);

}  // namespace plumb
