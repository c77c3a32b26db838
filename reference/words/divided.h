// Division of numbers that are not negative, as formulas for this processor and for a card.
#pragma once

#include <cstdint>

namespace plumb {

// Of numbers that are not negative; a card divides narrow ones several times as fast.
struct Divided {
  std::int64_t times, rest;
};
constexpr Divided divided(std::int64_t number, std::int64_t by) {
  if ((number | by) >> 32 == 0) {
    const auto n = static_cast<std::uint32_t>(number), d = static_cast<std::uint32_t>(by);
    return {n / d, n % d};
  }
  return {number / by, number % by};
}

}  // namespace plumb
