// The two kinds of numbers in which products are proved. Private to the room.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/exact/field.h"
#include "reference/words/dtype.h"

namespace plumb {

// The integers modulo 2^61 - 1. A sum of products is kept unreduced: below 2^53 times below 2^61, so that
// 2^12 of them and what was folded before stay far below 2^127.
struct PrimeField {
  static constexpr std::string_view law =
      "C r = A (B r) modulo 2^61 - 1: a wrong block passes for one r in 2^61 - 1";
  using Weight = std::int64_t;
  using Sum = __int128;
  static Weight draw(std::uint64_t key, std::int64_t i);  // each residue alike
  static Weight one() { return 1; }
  static Weight plus(Weight a, Weight b) { return folded(static_cast<Sum>(a) + b); }
  static Weight folded(Sum);            // the residue
  static std::int64_t integer(Weight);  // the one nearest to zero
  static bool equal(Weight a, Weight b, DType) { return a == b; }
  // sums[i * sum_step] += values[i] * weights[i * weight_step]
  static void add(const std::int64_t* values, std::int64_t count, const Weight* weights,
                  std::int64_t weight_step, Sum* sums, std::int64_t sum_step);
};

// 64 words at once, modulo 2^32.
struct WordLanes {
  static constexpr std::string_view law =
      "C r = A (B r) modulo the words of C, 64 times: a wrong block passes for one r in 2^64";
  using Weight = std::array<std::uint32_t, 64>;
  using Sum = Weight;
  static Weight draw(std::uint64_t key, std::int64_t i);
  static Weight one() { return {1}; }  // in the first lane
  static Weight plus(const Weight& a, const Weight& b);
  static const Weight& folded(const Sum& sum) { return sum; }
  static std::int64_t integer(const Weight& w) { return static_cast<std::int32_t>(w[0]); }
  static bool equal(const Weight&, const Weight&, DType);  // modulo the words of the dtype
  static void add(const std::int64_t* values, std::int64_t count, const Weight* weights,
                  std::int64_t weight_step, Sum* sums, std::int64_t sum_step);
};

}  // namespace plumb
