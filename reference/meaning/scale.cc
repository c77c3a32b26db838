#include "reference/meaning/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plumb {
namespace {

// The exact quotient and product of two f32 rounded to f64 first and to f32 then are rounded once: f64 has
// more than twice the digits, and two.
double in_f32(double value) { return decode(DType::f32, encode(DType::f32, value)); }

double largest(DType codes) { return format(codes).largest; }

}  // namespace

// Both largest codes are 7/8 of a power of two.
std::uint8_t block_scale(double amax, DType codes) {
  if (std::isnan(amax)) return 0xff;
  if (std::isinf(amax)) return 0xfe;
  if (amax == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(amax, &exponent);
  exponent -= std::ilogb(largest(codes)) + 1;
  if (mantissa > 0.875) ++exponent;
  return static_cast<std::uint8_t>(std::clamp(exponent + 127, 0, 254));
}

double current_scale(double amax, DType codes) { return next_scale(amax, 1, codes); }

double next_scale(double amax, double scale, DType codes) {
  if (!std::isfinite(amax) || amax == 0) return scale;
  return std::min(in_f32(largest(codes) / amax), format(DType::f32).largest);
}

std::uint64_t code(DType codes, double value, double scale) {
  const double scaled = in_f32(value * scale);
  return encode(codes, std::isnan(scaled) ? scaled : std::clamp(scaled, -largest(codes), largest(codes)));
}

}  // namespace plumb
