// Elements in memory: formulas for this processor and for a card.
#pragma once

#include "reference/words/element.h"

// A loop that no element goes through, or seldom: a card's compiler would write it out, and code is what the
// bundle has most of.
#ifdef __CUDA_ARCH__
#define PLUMB_ROLLED _Pragma("unroll 1")
#else
#define PLUMB_ROLLED
#endif

namespace plumb {

// Aligned as their width says.
template <class Word>
constexpr Word word_at(const std::byte* at) {
  return *reinterpret_cast<const Word*>(at);
}
template <class Word>
constexpr void put_word(std::byte* at, Word word) {
  *reinterpret_cast<Word*>(at) = word;
}

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

// What divides a number from [0, 2^31) by another one, by a multiplication: with s = ceil(log2 by) and
// times = floor(2^(31+s) / by) + 1, which has 32 bits, times * by - 2^(31+s) is from (0, 2^s], and n * that
// less than 2^(31+s): too little to reach the next quotient.
struct Inverse {
  std::uint32_t times = 0, shift = 0;
};
constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
constexpr Inverse inverse_of(std::int64_t by) {  // from [1, 2^31)
  const auto shift = static_cast<std::uint32_t>(31 + std::bit_width(static_cast<std::uint64_t>(by - 1)));
  return {static_cast<std::uint32_t>((std::uint64_t{1} << shift) / static_cast<std::uint64_t>(by) + 1),
          shift};
}
constexpr std::int64_t divided(std::int64_t number, Inverse by) {
  return static_cast<std::int64_t>(
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) * by.times >> by.shift);
}

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

// of<Word>() for the word of so many bytes.
template <class Run>
constexpr void with_word(int bytes, Run&& run) {
  if (bytes == 1) return run.template operator()<std::uint8_t>();
  if (bytes == 2) return run.template operator()<std::uint16_t>();
  if (bytes == 4) return run.template operator()<std::uint32_t>();
  run.template operator()<std::uint64_t>();
}

constexpr int width_of(DType dtype) {
  return with_dtype(dtype, [&]<DType d>() { return As<d>::f.bytes; });
}

constexpr double value_at(DType dtype, const std::byte* at) {
  return with_dtype(dtype, [&]<DType d>() { return decode_one<d>(word_at<typename As<d>::Word>(at)); });
}

constexpr void put_value(DType dtype, std::byte* at, double value) {
  with_dtype(dtype, [&]<DType d>() {
    using Word = typename As<d>::Word;
    put_word<Word>(at, static_cast<Word>(encode_one<d>(value)));
  });
}

constexpr double once_rounded(DType dtype, double value) {
  return with_dtype(dtype, [&]<DType d>() { return decode_one<d>(encode_one<d>(value)); });
}

}  // namespace plumb
