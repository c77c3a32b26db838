// One element in another format.
#pragma once

#include "adapters/rank/hands.h"
#include "reference/device/element_at.h"

namespace plumb::cuda {

struct RecastElement {
  Recast how;
  const std::byte* from;
  std::byte* to;
  int from_width, to_width;

  constexpr void operator()(std::int64_t i) const {
    double value = value_at(how.from, from + i * from_width);
    if (how.divisor != 1) value /= how.divisor;
    if (how.most != 0) value = value < -how.most ? -how.most : value > how.most - 1 ? how.most - 1 : value;
    put_value(how.to, to + i * to_width, value);
  }
};

constexpr RecastElement element_of(const Recast& how, const std::byte* from, std::byte* to) {
  return {how, from, to, width_of(how.from), width_of(how.to)};
}

}  // namespace plumb::cuda
