// How the parts of one value share a budget.
#pragma once

#include <algorithm>
#include <cstdint>

#include "reference/fill/hash.h"

namespace plumb {

// Magnitudes for `parts` addends whose sum never exceeds a budget. In the order of a rotation that
// differs by element, addend t has a magnitude from step * t + [1, width], and only the first `active`
// are not zero.
//   budget 256, 4 parts      step = width = 25: all magnitudes of an element differ
//   budget 256, 100 parts    step 0, width 2
//   budget 256, 1000 parts   step 0, width 1, active 256: another subset for each element
struct Shares {
  std::int64_t parts = 1, active = 1, step = 0, width = 1;
};

// Both > 0.
inline Shares shares(std::int64_t parts, std::int64_t budget) {
  const __int128 triangle = static_cast<__int128>(parts) * (parts + 1) / 2;
  if (parts == 1) return {1, 1, 0, budget};
  if (triangle <= budget) {
    const std::int64_t width = budget / static_cast<std::int64_t>(triangle);
    return {parts, parts, width, width};
  }
  return {parts, std::min(parts, budget), 0, std::max<std::int64_t>(1, budget / parts)};
}

// The largest sum of magnitudes.
inline std::int64_t mass(const Shares& s) {
  return s.active * s.width + s.step * (s.active * (s.active - 1) / 2);
}

// The largest magnitude.
inline std::int64_t largest(const Shares& s) { return s.step * (s.active - 1) + s.width; }

// The magnitude of part p of the element whose mixed hash is `element`.
constexpr std::int64_t magnitude_of_part(const Shares& s, std::uint64_t element, std::int64_t p,
                                         std::uint64_t random) {
  if (s.parts == 1) return 1 + below(random, s.width);
  std::int64_t t = p + below(element, s.parts);
  t -= t >= s.parts ? s.parts : 0;
  return t < s.active ? s.step * t + 1 + below(random, s.width) : 0;
}

}  // namespace plumb
