#include "reference/exact/dot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/exact/accumulator.h"
#include "reference/exact/lanes.h"

namespace plumb {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Two {
  double sum, error;
};

PLUMB_INLINE Two two_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

}  // namespace

// Below 2^-900 the rest of a product may be cut off.
PLUMB_CLONES Sum2 cascade(const Pair& p) {
  double hi = 0, lo = 0, lost = 0;
  for (std::int64_t k = 0; k < p.length; ++k) {
    const double product = p.a[k] * p.b[k];
    const double rest = std::fma(p.a[k], p.b[k], -product);
    const Two top = two_sum(hi, product), middle = two_sum(lo, top.error), bottom = two_sum(middle.sum, rest);
    hi = top.sum;
    lo = bottom.sum;
    lost += std::fabs(middle.error) + std::fabs(bottom.error);
    if (std::fabs(product) < 0x1p-900 && p.a[k] != 0 && p.b[k] != 0) lost = kNaN;
  }
  return lost == 0 ? Sum2{hi, lo, 0} : Sum2{kNaN, 0, kNaN};
}

// Products, and what their rounding cut off, a stretch at a time.
struct Stretch {
  static constexpr std::int64_t most = 64;
  alignas(64) double product[most], rest[most];
  std::int64_t count;
};

PLUMB_INLINE void multiply(const Pair& p, std::int64_t from, Stretch& s) {
  s.count = std::min(Stretch::most, p.length - from);
  for (std::int64_t k = 0; k < s.count; ++k) {
    const double a = p.a[from + k], b = p.b[from + k];
    s.product[k] = a * b;
    s.rest[k] = std::fma(a, b, -s.product[k]);
  }
}

PLUMB_CLONES Sum2 compensated(const Pair& p, double bound) {
  Stretch s;
  Lanes hi = Lanes{}, lo = Lanes{};
  for (std::int64_t from = 0; from < p.length; from += Stretch::most) {
    multiply(p, from, s);
    for (std::int64_t k = 0; k < s.count; k += 8) {
      Lanes term, cut;
      read(term, s.product + k), read(cut, s.rest + k);
      const Lanes sum = hi + term, part = sum - hi;
      lo += ((hi - (sum - part)) + (term - part)) + cut;
      hi = sum;
    }
  }
  double above = 0, below = 0;
  for (int l = 0; l < 8; ++l) {
    const Two top = two_sum(above, hi[l]);
    above = top.sum;
    below += top.error + lo[l];
  }
  const double count = static_cast<double>(p.length + 16);
  return {above, below, count * count * 0x1p-105 * bound};
}

bool rounded_once(DType dtype, const Sum2& s, std::uint64_t& bits) {
  if (!(s.error < 0x1p1000) || !std::isfinite(s.hi)) return false;
  const auto [hi, lo] = two_sum(s.hi, s.lo);
  if (dtype == DType::f64 || format(dtype).integer) {
    if (s.error == 0 && (dtype == DType::f64 || lo == 0)) return bits = encode(dtype, hi + lo), true;
    const double error = (s.error + std::fabs(lo) * 0x1p-52) * (1 + 0x1p-50);
    bits = encode(dtype, hi + (lo - error));
    return dtype == DType::f64 && bits == encode(dtype, hi + (lo + error));
  }
  if (s.error == 0) return bits = encode(dtype, to_odd(hi, lo)), true;
  const double error = (s.error + std::fabs(lo) * 0x1p-52) * (1 + 0x1p-50);
  bits = encode(dtype, to_odd(hi, lo - error));
  return bits == encode(dtype, to_odd(hi, lo + error));
}

std::uint64_t dot_slowly(DType dtype, const Pair& p) {
  Accumulator sum;
  for (std::int64_t k = 0; k < p.length; ++k) add_product(sum, p.a[k], p.b[k]);
  return rounded(dtype, sum);
}

}  // namespace plumb
