// A superaccumulator: the exact sum of any doubles and of any products of two doubles.
#pragma once

#include <array>
#include <cstdint>

#include "reference/words/dtype.h"

namespace plumb {

// A fixed-point number wide enough for every product of two doubles (2^-2148 up to 2^2048) and for
// 2^60 of them. Limb i holds a multiple of 2^(32 i - 2240) with room above its 32 bits, so that carries
// wait until `pending` additions have filled the room.
struct Accumulator {
  static constexpr int kLimbs = 136;
  static constexpr int kLowest = -2240;  // exponent of the lowest bit; room below to round to 53 bits

  std::array<std::int64_t, kLimbs> limbs{};
  std::int32_t pending = 0;
  bool nan = false, plus_infinity = false, minus_infinity = false;
};

void add(Accumulator&, double);
void add_product(Accumulator&, double, double);

// The sum as an element, rounded once, ties to even, by encode's rules; a sum of zero is +0. The
// accumulator keeps its value.
std::uint64_t rounded(DType, Accumulator&);

// A double whose rounding to any format of at most 51 bits is that of the exact sum hi + lo: rounded
// to odd (the last bit set where anything was cut off). hi and lo must be finite and their sum not
// within the subnormal doubles.
double to_odd(double hi, double lo);

}  // namespace plumb
