// One element written, judged or digested: formulas for this processor and for a card.
#pragma once

#include "reference/check/device/device_check.h"
#include "reference/device/element_at.h"
#include "reference/fill/hash.h"

namespace plumb {

constexpr std::uint64_t stored_at(int width, const std::byte* at) {
  std::uint64_t bits = 0;
  with_word(width, [&]<class Word>() { bits = word_at<Word>(at); });
  return bits;
}

template <class At>
struct WrittenElement {
  At data;
  DType dtype;
  int width;
  std::int64_t part;
  Cutout cut;
  std::byte* out;

  constexpr void operator()(std::int64_t i) const {
    const std::uint64_t bits = bits_at(data, dtype, part, cut.whole(i));
    with_word(width, [&]<class Word>() { put_word<Word>(out + i * width, static_cast<Word>(bits)); });
  }
};

struct WrittenTerm {
  ProductAt at;
  DType dtype;
  int width;
  std::byte* out;

  constexpr void operator()(std::int64_t i) const { put_value(dtype, out + i * width, at.value(i)); }
};

// As many neighbours as a word of 16 bytes holds.
struct WrittenTerms {
  ProductAt at;
  DType dtype;
  int width;
  std::byte* out;

  constexpr void operator()(std::int64_t i) const {
    const int count = static_cast<int>(sizeof(Word16)) / width;
    Word16 words{0, 0};
    at.run(i * count, count, [&](int k, double value) {
      const int shift = 8 * width * k;
      (shift < 64 ? words.low : words.high) |= encoded(dtype, value) << shift % 64;
    });
    put_word<Word16>(out + i * sizeof words, words);
  }
};

template <class At>
struct WrongElement {
  At data;
  DType dtype;
  int width;
  std::int64_t parts;
  Reduce reduction;
  double divisor;
  bool signs;
  Cutout cut;
  const std::byte* block;

  constexpr double value(std::int64_t part, std::int64_t whole) const {
    const std::uint64_t bits = bits_at(data, dtype, part, whole);
    return with_dtype(dtype, [&]<DType d>() { return decode_one<d>(bits); });
  }
  constexpr double met(double all, double one) const {
    if (reduction == Reduce::sum) return all + one;
    return (reduction == Reduce::max) == (one > all) ? one : all;
  }
  constexpr std::uint64_t wanted(std::int64_t whole) const {
    if (parts == 1) return bits_at(data, dtype, 0, whole);
    double all = value(0, whole);
    for (std::int64_t p = 1; p < parts; ++p) all = met(all, value(p, whole));
    return with_dtype(dtype, [&]<DType d>() -> std::uint64_t { return encode_one<d>(all / divisor); });
  }
  constexpr bool zero(std::uint64_t bits) const {
    return dtype != DType::e8m0 && with_dtype(dtype, [&]<DType d>() { return decode_one<d>(bits); }) == 0;
  }
  constexpr bool operator()(std::int64_t i) const {
    const std::uint64_t got = stored_at(width, block + i * width), want = wanted(cut.whole(i));
    return got != want && (signs || !zero(got) || !zero(want));
  }
};

struct UnlikeElement {
  DType dtype;
  int width;
  const std::byte* block;
  constexpr std::uint64_t unsigned_at(std::int64_t i) const {
    return without_zeros_sign(dtype, stored_at(width, block + i * width));
  }
  constexpr bool operator()(std::int64_t i) const { return unsigned_at(i) != unsigned_at(0); }
};

// As digest_of() says.
struct DigestedElement {
  std::uint64_t base;
  int width;
  Cutout cut;
  const std::byte* block;

  constexpr std::uint64_t operator()(std::int64_t i) const {
    return mix(hashed(base, cut.whole(i)) ^ stored_at(width, block + i * width));
  }
};

// As digest_of_signs() says.
struct DigestedSign {
  DigestedElement all;
  std::uint64_t zero;

  constexpr std::uint64_t operator()(std::int64_t i) const {
    return stored_at(all.width, all.block + i * all.width) == zero ? all(i) : 0;
  }
};

}  // namespace plumb
