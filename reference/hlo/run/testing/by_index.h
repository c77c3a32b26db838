// Definitions of maps written out index by index, for tests.
#pragma once

#include "reference/hlo/run/maps.h"

namespace plumb::hlo {

inline Shape shape(const Integers& dims) { return {Type::s32, dims, {}, {}, {}}; }

// The place of an index in an array, -1 outside of it.
inline std::int64_t place(const Integers& dims, const Integers& index) {
  std::int64_t n = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (index[d] < 0 || index[d] >= dims[d]) return -1;
    n = n * dims[d] + index[d];
  }
  return n;
}

// For each element of an array of these extents, in order, the place in `of` that f says of its index.
template <typename F>
Integers each(const Integers& dims, const Integers& of, F f) {
  Integers all;
  for (std::int64_t n = 0; n < count(dims); ++n) {
    Integers index(dims.size());
    for (std::size_t d = dims.size(), left = static_cast<std::size_t>(n); d-- > 0;) {
      index[d] = static_cast<std::int64_t>(left) % dims[d];
      left /= static_cast<std::size_t>(dims[d]);
    }
    all.push_back(place(of, f(index)));
  }
  return all;
}

}  // namespace plumb::hlo
