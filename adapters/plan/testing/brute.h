// What the tests of plans take for granted: where elements lie and what must move, element by element
// from index arithmetic of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/words/op.h"

namespace plumb::brute {

using Index = std::vector<std::int64_t>;

// Every index of an array, row-major.
inline std::vector<Index> indices(const std::vector<std::int64_t>& sizes) {
  std::vector<Index> all{{}};
  for (std::int64_t size : sizes) {
    std::vector<Index> next;
    for (const Index& head : all)
      for (std::int64_t i = 0; i < size; ++i) {
        next.push_back(head);
        next.back().push_back(i);
      }
    all = std::move(next);
  }
  return all;
}

// The coordinates of a device: its place in the row-major mesh, digit by digit.
inline Index where(const Mesh& mesh, std::int64_t device) {
  std::int64_t position = mesh.place.empty() ? device : mesh.place[device];
  Index at(mesh.axes.size());
  for (int a = static_cast<int>(mesh.axes.size()) - 1; a >= 0; --a) {
    at[a] = position % mesh.axes[a].size;
    position /= mesh.axes[a].size;
  }
  return at;
}

// Whether the piece of a dimension at these coordinates holds index i: by walking the axes for nested
// cuts, by one cut into as many pieces as there are devices for flat ones.
inline bool holds(const Case& c, const Dim& dim, const Index& at, std::int64_t i) {
  std::int64_t begin = 0, end = dim.size, count = 1, index = 0;
  for (AxisId axis : dim.axes) {
    const std::int64_t n = c.mesh.axes[axis].size;
    count *= n, index = index * n + at[axis];
    const std::int64_t step = (end - begin + n - 1) / n;
    if (c.rule == Rule::nested) {
      const std::int64_t first = std::min(end, begin + at[axis] * step);
      end = std::min(end, first + step), begin = first;
    }
  }
  if (c.rule == Rule::flat) {
    const std::int64_t step = (dim.size + count - 1) / count;
    begin = index * step, end = std::min(dim.size, begin + step);
  }
  return begin <= i && i < end;
}

inline bool holds(const Case& c, const Spec& spec, std::int64_t device, const Index& index) {
  const Index at = where(c.mesh, device);
  for (std::size_t d = 0; d < index.size(); ++d)
    if (!holds(c, spec.dims[d], at, index[d])) return false;
  return true;
}

inline bool names(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// The place of a device along some axes, as one number.
inline std::int64_t digits(const Mesh& mesh, std::int64_t device, const std::vector<AxisId>& axes) {
  const Index at = where(mesh, device);
  std::int64_t n = 0;
  for (AxisId axis : axes) n = n * mesh.axes[axis].size + at[axis];
  return n;
}

}  // namespace plumb::brute
