// An unfinished operand of a product, in few parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

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
