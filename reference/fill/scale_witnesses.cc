#include "reference/fill/scale_witnesses.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace plumb {
namespace {

float largest(DType codes) { return static_cast<float>(format(codes).largest); }

std::uint64_t code(DType codes, float scaled) {
  const double most = format(codes).largest;
  return encode(codes, std::clamp<double>(scaled, -most, most));
}

float in_bf16(float x) { return static_cast<float>(decode(DType::bf16, encode(DType::bf16, x))); }

// The ties of codes in one binade of normal codes, and of all subnormal ones.
std::vector<double> ties(DType codes) {
  const Format& f = format(codes);
  const int least = f.min_exponent - f.digits;  // of half the smallest code
  const int top = std::ilogb(f.largest) - 10 - f.digits;
  std::vector<double> all;
  for (int odd = 1; odd < 1 << f.digits; odd += 2) all.push_back(std::ldexp(odd, least));
  for (int odd = (1 << f.digits) + 1; odd < 2 << f.digits; odd += 2) all.push_back(std::ldexp(odd, top));
  return all;
}

void add_values(ScaleWitness& t, DType values, DType codes) {
  const float scale = largest(codes) / static_cast<float>(t.amax), inverse = 1 / scale;
  const int digits = std::min(format(values).digits, 24);
  for (const double tie : ties(codes)) {
    const double beside = tie / scale, unit = std::ldexp(1, std::ilogb(beside) + 1 - digits);
    for (int step = -2; step <= 2; ++step) {
      const auto x = static_cast<float>((std::nearbyint(beside / unit) + step) * unit);
      int exponent = 0;
      const double significand = std::ldexp(std::frexp(x, &exponent), format(codes).digits);
      if (significand == std::nearbyint(significand) || x >= 0x1p-8f) continue;
      if (values == DType::f16 && x < 0x1p-19f) continue;
      const std::uint64_t right = code(codes, x * scale);
      if (code(codes, x / inverse) != right) t.quotient.push_back(x);
      if (code(codes, in_bf16(x * scale)) != right) t.narrow.push_back(x);
    }
  }
}

std::vector<ScaleWitness> all_scale_witnesses(DType values, DType codes) {
  const float most = largest(codes);
  std::vector<ScaleWitness> all;
  for (int m = 128; m < 256; ++m) {
    ScaleWitness t{m / 128.0, {}, {}};
    const auto amax = static_cast<float>(t.amax);
    const float inverse = 1 / (most / amax);
    if (amax / most == inverse || amax * (1 / most) == inverse) continue;
    add_values(t, values, codes);
    if (!t.quotient.empty() && !t.narrow.empty()) all.push_back(std::move(t));
  }
  assert(!all.empty());
  return all;
}

std::vector<double> all_next_scale_witnesses(DType codes) {
  std::vector<double> all;
  for (int m = 128; m < 256; ++m)
    if (is_next_scale_witness(m / 128.0, codes)) all.push_back(m / 128.0);
  assert(!all.empty());
  return all;
}

}  // namespace

const std::vector<ScaleWitness>& scale_witnesses(DType values, DType codes) {
  static const auto made = [](DType of) {
    return std::array{all_scale_witnesses(of, DType::f8e4m3), all_scale_witnesses(of, DType::f8e5m2)};
  };
  static const std::array all{made(DType::bf16), made(DType::f16), made(DType::f32)};
  const int row = values == DType::bf16 ? 0 : values == DType::f16 ? 1 : 2;
  return all[row][codes == DType::f8e5m2];
}

bool is_next_scale_witness(double amax, DType codes) {
  const float most = largest(codes), a = static_cast<float>(amax), scale = most / a;
  return scale != 1 / (a / most) && scale != most * (1 / a) && scale != 1 / (a * (1 / most));
}

const std::vector<double>& next_scale_witnesses(DType codes) {
  static const std::array all{all_next_scale_witnesses(DType::f8e4m3),
                              all_next_scale_witnesses(DType::f8e5m2)};
  return all[codes == DType::f8e5m2];
}

}  // namespace plumb
