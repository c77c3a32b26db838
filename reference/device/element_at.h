// Elements in memory: formulas for this processor and for a card.
#pragma once

#include "reference/words/divided.h"
#include "reference/words/element.h"

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

constexpr std::uint64_t encoded(DType dtype, double value) {
  return with_dtype(dtype, [&]<DType d>() -> std::uint64_t { return encode_one<d>(value); });
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
