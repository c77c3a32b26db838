// Division by a number that is known beforehand, as a formula for this processor and for a card.
#pragma once

#include <cstdint>

namespace plumb::cuda {

// What divides a number from [0, 2^31) by another one, by a multiplication: with s = ceil(log2 by) and
// times = floor(2^(31+s) / by) + 1, which has 32 bits, times * by - 2^(31+s) is from (0, 2^s], and n * that
// less than 2^(31+s): too little to reach the next quotient.
struct Inverse {
  std::uint32_t times = 0, shift = 0;
};
constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
constexpr Inverse inverse_of(std::int64_t by) {  // from [1, 2^31)
  const auto shift = static_cast<std::uint32_t>(by == 1 ? 31 : 95 - __builtin_clzll(by - 1));
  return {static_cast<std::uint32_t>((std::uint64_t{1} << shift) / static_cast<std::uint64_t>(by) + 1),
          shift};
}
constexpr std::int64_t quotient(std::int64_t number, Inverse by) {
  return static_cast<std::int64_t>(
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) * by.times >> by.shift);
}

}  // namespace plumb::cuda
