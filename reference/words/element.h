// Elements and their values, as formulas: one code for this processor and for a card (nvcc
// --expt-relaxed-constexpr).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference/words/clones.h"
#include "reference/words/dtype.h"

namespace plumb {

inline constexpr std::uint64_t kSign = 1ull << 63, kMagnitude = kSign - 1, kInfinity = 0x7ffull << 52;

constexpr double power_of_two(int exponent) {  // a normal one
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Each row of kFormats as a set of compile-time facts, so that every loop below has its own code.
template <DType dtype>
struct As {
  static constexpr Format f = kFormats[static_cast<int>(dtype)];
  static constexpr int width = 8 * f.bytes;
  using Word =
      std::conditional_t<width == 8, std::uint8_t,
                         std::conditional_t<width == 16, std::uint16_t,
                                            std::conditional_t<width == 32, std::uint32_t, std::uint64_t>>>;
  static constexpr bool scale = dtype == DType::e8m0;
  static constexpr std::uint64_t sign = scale ? 0 : 1ull << (width - 1);
  // The first magnitude that is not finite, the largest finite one, and a quiet NaN.
  static constexpr std::uint64_t beyond = dtype == DType::f8e4m3 ? 0x7f
                                          : scale                ? 0xff
                                                  : ((sign - 1) >> (f.digits - 1)) << (f.digits - 1);
  static constexpr std::uint64_t largest = beyond - 1;
  static constexpr std::uint64_t nan = f.infinity ? beyond | 1ull << (f.digits - 2) : beyond;
  static constexpr bool saturates = f.bytes == 1;
};

template <DType dtype>
PLUMB_INLINE constexpr double decode_one(std::uint64_t bits) {
  using T = As<dtype>;
  constexpr Format f = T::f;
  if constexpr (dtype == DType::f64) return std::bit_cast<double>(bits);
  if constexpr (dtype == DType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if constexpr (dtype == DType::bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  if constexpr (dtype == DType::s8) return static_cast<std::int8_t>(bits);
  if constexpr (dtype == DType::s32) return static_cast<std::int32_t>(bits);
  const std::uint64_t magnitude = bits & ~T::sign;
  double value = 0;
  if constexpr (T::scale) {
    value = power_of_two(static_cast<int>(magnitude) + f.min_exponent);
  } else if (magnitude >> (f.digits - 1) == 0) {
    value = static_cast<double>(static_cast<std::int32_t>(magnitude)) *
            power_of_two(f.min_exponent - f.digits + 1);
  } else {
    value = std::bit_cast<double>((magnitude << (53 - f.digits)) +
                                  (static_cast<std::uint64_t>(1022 + f.min_exponent) << 52));
  }
  if (magnitude >= T::beyond)
    value = magnitude == T::beyond && f.infinity ? std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::quiet_NaN();
  return bits & T::sign ? -value : value;
}

// |value| + 2^52 q rounds |value| to a multiple of q, the target's unit in the last place there, and
// holds how many units it is in its low bits; a carry moves into the exponent by itself.
template <DType dtype>
PLUMB_INLINE constexpr std::uint64_t encode_float(double value) {
  using T = As<dtype>;
  constexpr Format f = T::f;
  const std::uint64_t all = std::bit_cast<std::uint64_t>(value), magnitude = all & kMagnitude;
  const std::uint64_t capped =
      std::min(magnitude, std::bit_cast<std::uint64_t>(power_of_two(f.max_exponent + 1)));
  const std::uint64_t exponent = std::max(capped >> 52, static_cast<std::uint64_t>(f.min_exponent + 1023));
  const std::uint64_t magic = (exponent + 53 - f.digits) << 52;
  const double sum = std::bit_cast<double>(capped) + std::bit_cast<double>(magic);
  std::uint64_t code =
      std::bit_cast<std::uint64_t>(sum) - magic + ((exponent - (f.min_exponent + 1023)) << (f.digits - 1));
  if constexpr (T::scale) code -= code > 0;
  // A value: on a card there is no T::largest to refer to.
  constexpr std::uint64_t most = T::saturates ? T::largest : T::beyond;
  code = std::min(code, most);
  if (f.infinity && magnitude == kInfinity) code = T::beyond;
  if (T::scale && all > kSign) code = T::nan;
  if (magnitude > kInfinity) return T::nan;
  return code | (all >> 63 ? T::sign : 0);
}

// The nearest integer, modulo 2^width: of what has a fraction by an addition that rounds it away, of what has
// none by a shift of its digits.
template <DType dtype>
PLUMB_INLINE constexpr std::uint64_t encode_integer(double value) {
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(value) & kMagnitude;
  if (magnitude >= kInfinity) return 0;
  constexpr std::uint64_t one = 1ull << 52;
  const int shift = static_cast<int>(magnitude >> 52) - 1075;
  std::uint64_t whole = 0;
  if (shift < 0)
    whole = std::bit_cast<std::uint64_t>(std::bit_cast<double>(magnitude) + 0x1p52) -
            std::bit_cast<std::uint64_t>(0x1p52);
  else if (shift < 64)
    whole = ((magnitude & (one - 1)) | one) << shift;
  return (value < 0 ? 0 - whole : whole) & ((1ull << As<dtype>::width) - 1);
}

template <DType dtype>
PLUMB_INLINE constexpr std::uint64_t encode_one(double value) {
  if constexpr (dtype == DType::f64) {
    return value == value ? std::bit_cast<std::uint64_t>(value) : As<dtype>::nan;
  } else if constexpr (dtype == DType::f32) {
    return value == value ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : As<dtype>::nan;
  } else if constexpr (As<dtype>::f.integer) {
    return encode_integer<dtype>(value);
  } else {
    return encode_float<dtype>(value);
  }
}

// Calls run.operator()<dtype>() for the dtype of a value.
template <class Run>
PLUMB_INLINE constexpr auto with_dtype(DType dtype, Run&& run) {
  switch (dtype) {
    case DType::s8:
      return run.template operator()<DType::s8>();
    case DType::s32:
      return run.template operator()<DType::s32>();
    case DType::f8e4m3:
      return run.template operator()<DType::f8e4m3>();
    case DType::f8e5m2:
      return run.template operator()<DType::f8e5m2>();
    case DType::e8m0:
      return run.template operator()<DType::e8m0>();
    case DType::f16:
      return run.template operator()<DType::f16>();
    case DType::bf16:
      return run.template operator()<DType::bf16>();
    case DType::f32:
      return run.template operator()<DType::f32>();
    default:
      return run.template operator()<DType::f64>();
  }
}

// The bits of a zero with a sign; 0 where there is none, in integers and scales.
constexpr std::uint64_t signed_zero(DType dtype) {
  return with_dtype(dtype, [&]<DType d>() -> std::uint64_t { return As<d>::f.integer ? 0 : As<d>::sign; });
}

// The bits of an element, of a zero without its sign.
constexpr std::uint64_t without_zeros_sign(DType dtype, std::uint64_t bits) {
  return bits == signed_zero(dtype) ? 0 : bits;
}

}  // namespace plumb
