// Sets of devices as numbers. The position of a device in the row-major mesh is the sum over the axes
// of coordinate times stride, so the devices that agree on some axes and range over the others are one
// position plus a list of offsets.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/words/mesh.h"

namespace plumb {

using AxisSet = std::uint64_t;  // bit a: axis a; a mesh has at most 64

inline AxisSet set_of(const std::vector<AxisId>& axes) {
  AxisSet set = 0;
  for (AxisId a : axes) set |= AxisSet{1} << a;
  return set;
}
inline bool contains(AxisSet set, AxisId axis) { return set >> axis & 1; }

// A view of a mesh, which must outlive it.
struct Grid {
  const Mesh* mesh = nullptr;
  std::vector<std::int64_t> size, stride;  // of each axis
  std::vector<std::int64_t> ids;           // the device at a position; empty: the position itself
  std::int64_t devices = 1;
  AxisSet all = 0;
  std::uint32_t device(std::int64_t position) const {
    return static_cast<std::uint32_t>(ids.empty() ? position : ids[position]);
  }
};
Grid grid(const Mesh&);

// The positions of a device's neighbours along the axes of `set`, its own coordinates there taken as 0.
std::vector<std::int64_t> offsets(const Grid&, AxisSet set);

// What the coordinates along `set` contribute to a position.
std::int64_t along(const Grid&, std::int64_t position, AxisSet set);

// The position whose coordinates along `axes` are the digits of `index`, the last axis fastest, counting
// only the axes that are in `set`.
std::int64_t at_index(const Grid&, const std::vector<AxisId>& axes, std::int64_t index, AxisSet set);

}  // namespace plumb
