// Which bits an element may have, numbered.
#pragma once

#include <cstdint>

#include "reference/words/dtype.h"

namespace plumb {

// The finite patterns that provenance uses. Integers and e8m0: all. 8-bit floating point: all but -0.
// Wider floating point: the normal numbers; subnormals and zeros are left out, for hardware that flushes
// them, or adds a zero to them, changes their bits without moving them wrongly.
//   s8 256, f8e4m3 253, f8e5m2 247, e8m0 255, f16 61440, bf16 65024, s32 2^32, f32 254 * 2^24,
//   f64 2046 * 2^53
struct Patterns {
  std::uint64_t positives = 0, count = 0;
  std::uint64_t low = 0;        // the bits of the first positive
  std::uint64_t below_low = 0;  // the bits of the first negative
};
Patterns patterns(DType);

constexpr std::uint64_t pattern(const Patterns& p, std::uint64_t n) {  // n < count; all differ
  return n < p.positives ? p.low + n : p.below_low + (n - p.positives);
}

// n -> (step * n + shift) mod count, a permutation of [0, count).
struct Permutation {
  std::uint64_t count = 1, step = 1, shift = 0;
};
Permutation permutation(std::uint64_t count, std::uint64_t random);

constexpr std::uint64_t permuted(const Permutation& p, std::uint64_t n) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(p.step) * n + p.shift) % p.count);
}

// The inverses. A pattern that provenance does not use is number `count`.
std::uint64_t number(const Patterns&, std::uint64_t bits);
std::uint64_t inverse(const Permutation&, std::uint64_t number);

// x with step * x = 1 modulo count, where step and count have no common factor.
std::uint64_t inverse_mod(std::uint64_t step, std::uint64_t count);

}  // namespace plumb
