// Hard inputs for tests and benchmarks of exact arithmetic.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "reference/words/tensor.h"

namespace plumb {

enum class Hard { normal, integers, wide, cancelling, subnormal, patterns };
inline constexpr Hard kHard[] = {Hard::normal,     Hard::integers,  Hard::wide,
                                 Hard::cancelling, Hard::subnormal, Hard::patterns};

inline std::string_view name(Hard h) {
  constexpr std::string_view names[] = {"normal", "integers", "wide", "cancelling", "subnormal", "patterns"};
  return names[static_cast<int>(h)];
}

// One value of a kind: N(0,1); -4..4; random exponents over most of the format; near the smallest
// normal; any finite pattern.
inline std::uint64_t hard_element(Hard kind, DType dtype, std::mt19937_64& random) {
  const Format& f = format(dtype);
  const auto uniform = [&] { return 1 + std::ldexp(static_cast<double>(random() >> 12), -52); };
  const double sign = random() & 1 ? 1 : -1;
  switch (kind) {
    case Hard::normal:
    case Hard::cancelling: {
      std::normal_distribution<double> normal;
      return encode(dtype, normal(random) * (f.integer ? 40 : 1));
    }
    case Hard::integers:
      return encode(dtype, static_cast<double>(static_cast<int>(random() % 9) - 4));
    case Hard::wide: {
      const int span = (f.max_exponent - f.min_exponent) / 2 - 8;
      const int exponent = span > 0 ? static_cast<int>(random() % (2 * span)) - span : 0;
      return encode(dtype, sign * uniform() * std::ldexp(1.0, exponent));
    }
    case Hard::subnormal:
      return encode(
          dtype, sign * uniform() * std::ldexp(1.0, f.min_exponent - static_cast<int>(random() % f.digits)));
    default:
      for (;;) {
        const std::uint64_t bits = random() >> (64 - 8 * f.bytes);
        if (finite(dtype, bits)) return bits;
      }
  }
}

inline Tensor hard_tensor(Hard kind, DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensor t = zeros(dtype, std::move(shape));
  const std::int64_t count = elements(t.shape);
  const int bytes = format(dtype).bytes;
  for (std::int64_t i = 0; i < count; ++i)
    store(dtype, t.bytes.data() + i * bytes, hard_element(kind, dtype, random));
  return t;
}

// Makes products cancel in pairs, up to one part in 2^16 and the last odd term: a[m,k] keeps each
// column twice, b[k,n] repeats each row with the sign turned.
inline void cancel_pairs(Tensor& a, Tensor& b, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::int64_t m = a.shape[0], depth = a.shape[1], n = b.shape[1];
  const auto set = [](Tensor& t, std::int64_t i, double v) {
    store(t.dtype, t.bytes.data() + i * format(t.dtype).bytes, encode(t.dtype, v));
  };
  for (std::int64_t k = 0; k + 1 < depth; k += 2) {
    for (std::int64_t i = 0; i < m; ++i) set(a, i * depth + k + 1, value(a, i * depth + k));
    for (std::int64_t j = 0; j < n; ++j) {
      const double wobble = random() % 8 == 0 ? 1 + 0x1p-16 : 1;
      set(b, (k + 1) * n + j, -value(b, k * n + j) * wobble);
    }
  }
}

}  // namespace plumb
