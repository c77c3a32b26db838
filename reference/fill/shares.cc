#include "reference/fill/shares.h"

#include <algorithm>

namespace plumb {

Shares shares(std::int64_t parts, std::int64_t budget) {
  const __int128 triangle = static_cast<__int128>(parts) * (parts + 1) / 2;
  if (parts == 1) return {1, 1, 0, budget};
  if (triangle <= budget) {
    const std::int64_t width = budget / static_cast<std::int64_t>(triangle);
    return {parts, parts, width, width};
  }
  return {parts, std::min(parts, budget), 0, std::max<std::int64_t>(1, budget / parts)};
}

std::int64_t mass(const Shares& s) { return s.active * s.width + s.step * (s.active * (s.active - 1) / 2); }

std::int64_t largest(const Shares& s) { return s.step * (s.active - 1) + s.width; }

}  // namespace plumb
