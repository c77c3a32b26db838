#include "reference/exact/accumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace plumb {
namespace {

constexpr std::uint64_t kFraction = (1ull << 52) - 1;
constexpr std::int64_t kMask = 0xffffffff;

// A finite double is +-significand * 2^exponent.
struct Parts {
  std::uint64_t significand;
  int exponent;
  bool negative;
};

Parts parts(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  if (field == 0) return {bits & kFraction, -1074, bits >> 63 != 0};
  return {(bits & kFraction) | 1ull << 52, field - 1075, bits >> 63 != 0};
}

// Moves what is above 32 bits of every limb into the next; afterwards all limbs but the last are in
// [0, 2^32) and the last carries the sign.
void carry(Accumulator& a) {
  std::int64_t up = 0;
  for (int i = 0; i + 1 < Accumulator::kLimbs; ++i) {
    const std::int64_t limb = a.limbs[i] + up;
    a.limbs[i] = limb & kMask;
    up = limb >> 32;
  }
  a.limbs.back() += up;
  a.pending = 0;
}

// Adds +-value * 2^(32 limb + shift), shift < 32.
void add_shifted(Accumulator& a, std::uint64_t value, int position, bool negative) {
  std::int64_t* limb = a.limbs.data() + position / 32;
  const unsigned __int128 wide = static_cast<unsigned __int128>(value) << (position % 32);
  const auto low = static_cast<std::int64_t>(wide & kMask);
  const auto middle = static_cast<std::int64_t>(wide >> 32 & kMask);
  const auto high = static_cast<std::int64_t>(wide >> 64);
  limb[0] += negative ? -low : low;
  limb[1] += negative ? -middle : middle;
  limb[2] += negative ? -high : high;
}

void make_room(Accumulator& a) {
  if (++a.pending == 1 << 29) carry(a);
}

void add_special(Accumulator& a, double x) {
  if (std::isnan(x)) a.nan = true;
  if (x == std::numeric_limits<double>::infinity()) a.plus_infinity = true;
  if (x == -std::numeric_limits<double>::infinity()) a.minus_infinity = true;
}

// The sum as sign, position of the top set bit (-1: zero), and the magnitude in limbs of 32 bits.
struct Magnitude {
  std::array<std::uint32_t, Accumulator::kLimbs + 1> limbs{};
  int top = -1;
  bool negative = false;

  bool bit(int i) const { return limbs[i / 32] >> (i % 32) & 1; }
  // Whether any bit below position i is set.
  bool below(int i) const {
    for (int l = 0; l < i / 32; ++l)
      if (limbs[l] != 0) return true;
    return (limbs[i / 32] & ((1u << (i % 32)) - 1)) != 0;
  }
  // Bits [low, low + 64).
  std::uint64_t word(int low) const {
    unsigned __int128 wide = 0;
    for (int l = 2; l >= 0; --l) {
      const int at = low / 32 + l;
      wide = wide << 32 | (at < static_cast<int>(limbs.size()) ? limbs[at] : 0);
    }
    return static_cast<std::uint64_t>(wide >> (low % 32));
  }
};

Magnitude magnitude(Accumulator& a) {
  carry(a);
  Magnitude m;
  m.negative = a.limbs.back() < 0;
  std::int64_t up = 0;
  for (int i = 0; i < Accumulator::kLimbs; ++i) {
    const std::int64_t limb = (m.negative ? -a.limbs[i] : a.limbs[i]) + up;
    m.limbs[i] = static_cast<std::uint32_t>(limb & kMask);
    up = limb >> 32;
  }
  m.limbs[Accumulator::kLimbs] = static_cast<std::uint32_t>(up);
  for (int i = Accumulator::kLimbs; i >= 0 && m.top < 0; --i)
    if (m.limbs[i] != 0) m.top = 32 * i + 31 - std::countl_zero(m.limbs[i]);
  return m;
}

// How many units of 2^(unit + kLowest) the magnitude is, rounded to the nearest, ties to even; below
// 2^63 units.
std::uint64_t nearest_units(const Magnitude& m, int unit) {
  const std::uint64_t whole = m.word(unit);
  const bool half = m.bit(unit - 1), more = m.below(unit - 1);
  return whole + (half && (more || (whole & 1)) ? 1 : 0);
}

std::uint64_t round_integer(DType dtype, const Magnitude& m) {
  const std::uint64_t whole = nearest_units(m, -Accumulator::kLowest);
  const std::uint64_t bits = m.negative ? -whole : whole;
  return dtype == DType::s8 ? bits & 0xff : bits & 0xffffffff;
}

double round_double(const Magnitude& m) {
  const int smallest = -1074 - Accumulator::kLowest;
  const int unit = std::max(m.top - 52, smallest);
  if (m.top + Accumulator::kLowest > 1023)
    return m.negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const double units = static_cast<double>(nearest_units(m, unit));  // at most 2^53: exact
  const double value = std::ldexp(units, unit + Accumulator::kLowest);
  return m.negative ? -value : value;
}

// Rounded to odd at 53 bits, kept within exponents that every narrower format treats alike.
double round_odd(const Magnitude& m) {
  const int unit = m.top - 52;
  const std::uint64_t units = m.word(unit) | (m.below(unit) ? 1 : 0);
  const int exponent = std::clamp(m.top + Accumulator::kLowest, -900, 900) - 52;
  const double value = std::ldexp(static_cast<double>(units), exponent);
  return m.negative ? -value : value;
}

}  // namespace

void add(Accumulator& a, double x) {
  if (!std::isfinite(x)) return add_special(a, x);
  const Parts p = parts(x);
  add_shifted(a, p.significand, p.exponent - Accumulator::kLowest, p.negative);
  make_room(a);
}

void add_product(Accumulator& a, double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) return add_special(a, x * y);
  const Parts p = parts(x), q = parts(y);
  const auto product = static_cast<unsigned __int128>(p.significand) * q.significand;
  const int position = p.exponent + q.exponent - Accumulator::kLowest;
  const bool negative = p.negative != q.negative;
  add_shifted(a, static_cast<std::uint64_t>(product), position, negative);
  add_shifted(a, static_cast<std::uint64_t>(product >> 64), position + 64, negative);
  make_room(a);
}

std::uint64_t rounded(DType dtype, Accumulator& a) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (a.nan || (a.plus_infinity && a.minus_infinity)) return encode(dtype, infinity - infinity);
  if (a.plus_infinity || a.minus_infinity) return encode(dtype, a.plus_infinity ? infinity : -infinity);
  const Magnitude m = magnitude(a);
  if (m.top < 0) return encode(dtype, 0.0);
  if (format(dtype).integer) return round_integer(dtype, m);
  return encode(dtype, dtype == DType::f64 ? round_double(m) : round_odd(m));
}

double to_odd(double hi, double lo) {
  const double sum = hi + lo, part = sum - hi;
  const double error = (hi - (sum - part)) + (lo - part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1)) return sum;
  const bool outward = (error > 0) == (sum > 0);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

}  // namespace plumb
