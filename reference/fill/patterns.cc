#include "reference/fill/patterns.h"

#include <cmath>
#include <numeric>
#include <utility>

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

std::uint64_t number(const Patterns& p, std::uint64_t bits) {
  if (bits >= p.low && bits - p.low < p.positives) return bits - p.low;
  if (bits >= p.below_low && bits - p.below_low < p.count - p.positives)
    return p.positives + (bits - p.below_low);
  return p.count;
}

std::uint64_t inverse(const Permutation& p, std::uint64_t number) {
  const std::uint64_t moved = number >= p.shift ? number - p.shift : number + (p.count - p.shift);
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(moved) * inverse_mod(p.step, p.count) %
                                    p.count);
}

std::uint64_t inverse_mod(std::uint64_t step, std::uint64_t count) {
  __int128 old = 0, now = 1;
  std::uint64_t a = count, b = step;
  while (b > 1) {
    const std::uint64_t quotient = a / b;
    old -= static_cast<__int128>(quotient) * now;
    std::swap(old, now);
    a -= quotient * b;
    std::swap(a, b);
  }
  return static_cast<std::uint64_t>((now % count + count) % count);
}

}  // namespace plumb
