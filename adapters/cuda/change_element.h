// One element in another format.
#pragma once

#include "adapters/cuda/element_at.h"
#include "adapters/rank/hands.h"

namespace plumb::cuda {

struct ChangeElement {
  Change change;
  const std::byte* from;
  std::byte* to;
  int from_width, to_width;

  constexpr void operator()(std::int64_t i) const {
    double value = value_at(change.from, from + i * from_width);
    if (change.divisor != 1) value /= change.divisor;
    if (change.most != 0)
      value = value < -change.most ? -change.most : value > change.most - 1 ? change.most - 1 : value;
    put_value(change.to, to + i * to_width, value);
  }
};

}  // namespace plumb::cuda
