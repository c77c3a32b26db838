// Element formats, and the exact passage between their bits and double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace plumb {

// An element format; all its facts are one row of one table. f8e4m3 and f8e5m2 are the OCP 8-bit
// formats (e4m3 has no infinity), e8m0 the OCP scale: a power of two without a sign or a zero.
enum class DType : std::uint8_t { s8, s32, f8e4m3, f8e5m2, e8m0, f16, bf16, f32, f64 };

struct Format {
  DType dtype;
  std::string_view name;
  int bytes;
  int digits;        // significand bits, the hidden one included; for integers the value bits
  int min_exponent;  // the smallest normal is 2^min_exponent; 0 for integers
  int max_exponent;  // every finite value is below 2^(max_exponent + 1)
  double largest;    // the largest finite value
  bool integer;      // two's complement, arithmetic wraps
  bool infinity;     // has infinities; without them overflow saturates (OCP)
};

// clang-format off
inline constexpr Format kFormats[] = {
    // dtype        name      bytes digits min   max   largest                  integer infinity
    {DType::s8,     "s8",     1,    7,     0,    6,    127.0,                   true,   false},
    {DType::s32,    "s32",    4,    31,    0,    30,   2147483647.0,            true,   false},
    {DType::f8e4m3, "f8e4m3", 1,    4,     -6,   8,    448.0,                   false,  false},
    {DType::f8e5m2, "f8e5m2", 1,    3,     -14,  15,   57344.0,                 false,  true},
    {DType::e8m0,   "e8m0",   1,    1,     -127, 127,  0x1p127,                 false,  false},
    {DType::f16,    "f16",    2,    11,    -14,  15,   65504.0,                 false,  true},
    {DType::bf16,   "bf16",   2,    8,     -126, 127,  0x1.fep127,              false,  true},
    {DType::f32,    "f32",    4,    24,    -126, 127,  0x1.fffffep127,          false,  true},
    {DType::f64,    "f64",    8,    53,    -1022, 1023, 0x1.fffffffffffffp1023, false,  true},
};
// clang-format on

std::span<const Format> formats();
inline const Format& format(DType dtype) { return kFormats[static_cast<int>(dtype)]; }
std::optional<DType> dtype_named(std::string_view name);

// Whether every finite value of `narrow` is one of `wide`.
bool holds(DType wide, DType narrow);

// The value of an element. Exact: every format but none wider than double. NaN for NaN bits.
double decode(DType, std::uint64_t bits);

// The element nearest to `value`, ties to even; subnormals are kept. Overflow gives infinity in f16,
// bf16, f32, f64, saturates to the largest finite value in the OCP formats, and wraps in integers
// (a fraction is first rounded to the nearest even integer). decode then encode is the identity on
// every pattern that is not NaN.
//   e8m0: what is below 2^-127, zero too, gives 2^-127; what is negative gives NaN; 1.5 gives 2
//   f8e5m2: infinity stays infinity; f8e4m3, e8m0: it saturates; integers: it and NaN give 0
std::uint64_t encode(DType, double value);

// The same for `count` dense elements, at the speed of memory.
void decode(DType, const std::byte* from, std::int64_t count, double* values);
void encode(DType, const double* values, std::int64_t count, std::byte* to);

// One element at `p`, little-endian, which need not be aligned.
std::uint64_t load(DType, const std::byte* p);
void store(DType, std::byte* p, std::uint64_t bits);

// Whether the bits are neither NaN nor infinite.
bool finite(DType, std::uint64_t bits);

inline std::uint64_t load(DType dtype, const std::byte* p) {
  switch (format(dtype).bytes) {
    case 1:
      return static_cast<std::uint8_t>(*p);
    case 2: {
      std::uint16_t bits;
      return std::memcpy(&bits, p, 2), bits;
    }
    case 4: {
      std::uint32_t bits;
      return std::memcpy(&bits, p, 4), bits;
    }
    default: {
      std::uint64_t bits;
      return std::memcpy(&bits, p, 8), bits;
    }
  }
}

inline void store(DType dtype, std::byte* p, std::uint64_t bits) {
  switch (format(dtype).bytes) {
    case 1:
      std::memcpy(p, &bits, 1);
      break;
    case 2:
      std::memcpy(p, &bits, 2);
      break;
    case 4:
      std::memcpy(p, &bits, 4);
      break;
    default:
      std::memcpy(p, &bits, 8);
  }
}

}  // namespace plumb
