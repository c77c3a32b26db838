#include "reference/fill/patterns.h"

#include <cmath>
#include <numeric>

#include "reference/fill/hash.h"

namespace plumb {

Patterns patterns(DType dtype) {
  const Format& f = format(dtype);
  const int width = 8 * f.bytes;
  if (f.integer) return {1ull << width, 1ull << width, 0, 0};
  if (dtype == DType::e8m0) return {255, 255, 0, 0};
  const std::uint64_t high = encode(dtype, f.largest), sign = 1ull << (width - 1);
  const std::uint64_t low = f.bytes == 1 ? 0 : encode(dtype, std::ldexp(1.0, f.min_exponent));
  const std::uint64_t first_negative = f.bytes == 1 ? 1 : low;
  return {high - low + 1, (high - low + 1) + (high - first_negative + 1), low, sign + first_negative};
}

Permutation permutation(std::uint64_t count, std::uint64_t random) {
  Permutation p{count, 1, mix(random) % count};
  if (count < 3) return p;
  p.step = 1 + random % (count - 1);
  while (std::gcd(p.step, count) != 1) p.step = p.step % (count - 1) + 1;
  return p;
}

}  // namespace plumb
