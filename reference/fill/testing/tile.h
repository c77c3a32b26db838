// For tests: which tile of a scheme an element is of, worked out index by index.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/words/tiles.h"

namespace plumb {

// -1 where it is of none.
inline std::int64_t tile_of(const Tiles& t, const std::vector<std::int64_t>& shape, std::int64_t index) {
  std::int64_t tile = 0, step = 1;
  for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) {
    const std::int64_t along = t.along[d][index % shape[d]];
    if (along < 0) return -1;
    tile += step * along, step *= t.count[d];
  }
  return tile;
}

}  // namespace plumb
