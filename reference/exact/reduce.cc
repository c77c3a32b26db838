// What parts make, other than their sum.
#include <cassert>
#include <cmath>

#include "reference/exact/accumulator.h"
#include "reference/exact/exact.h"
#include "reference/exact/ieee.h"

namespace plumb {
namespace {

// The sum less what was taken from it, as the nearest double.
double nearest(Accumulator& sum) { return decode(DType::f64, rounded(DType::f64, sum)); }

// The quotient of the sum by n: the nearest double to its leading part and what that leaves over, which
// together round as the quotient does.
std::uint64_t divided(Accumulator& sum, double n, DType out) {
  const double leading = nearest(sum);
  if (!std::isfinite(leading)) return encode(out, leading);
  add(sum, -leading);
  const double rest = nearest(sum), quotient = leading / n;
  const double over = std::fma(-quotient, n, leading) + rest;
  if (over == 0) return encode(out, quotient);
  return encode(out, out == DType::f64 ? quotient + over / n : to_odd(quotient, over / n));
}

bool beyond(double a, double b, Extreme extreme) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  if (a == 0 && b == 0)
    return std::signbit(a) != std::signbit(b) && std::signbit(b) == (extreme == Extreme::largest);
  return extreme == Extreme::largest ? a > b : a < b;
}

}  // namespace

Tensor mean_parts(const Tensor& parts, std::int64_t n, DType out) {
  assert(n > 0 && !format(parts.dtype).integer);
  const IeeeMode mode;
  Tensor result = zeros(out, {parts.shape.begin() + 1, parts.shape.end()});
  const std::int64_t size = elements(result.shape);
  for (std::int64_t i = 0; i < size; ++i) {
    Accumulator sum;
    for (std::int64_t p = 0; p < parts.shape[0]; ++p) add(sum, value(parts, p * size + i));
    store(out, result.bytes.data() + i * format(out).bytes, divided(sum, static_cast<double>(n), out));
  }
  return result;
}

Tensor extreme_parts(const Tensor& parts, Extreme extreme) {
  assert(parts.shape[0] > 0);
  Tensor result = zeros(parts.dtype, {parts.shape.begin() + 1, parts.shape.end()});
  const std::int64_t size = elements(result.shape);
  for (std::int64_t i = 0; i < size; ++i) {
    std::int64_t best = i;
    for (std::int64_t p = 1; p < parts.shape[0]; ++p)
      if (beyond(value(parts, p * size + i), value(parts, best), extreme)) best = p * size + i;
    store(parts.dtype, result.bytes.data() + i * format(parts.dtype).bytes, bits(parts, best));
  }
  return result;
}

}  // namespace plumb
