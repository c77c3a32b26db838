#include "adapters/plan/grid.h"

#include <cassert>

namespace plumb {

Grid grid(const Mesh& mesh) {
  assert(mesh.axes.size() <= most_axes);
  Grid g;
  g.mesh = &mesh;
  g.ids = ids(mesh);
  g.stride.resize(mesh.axes.size());
  for (std::size_t a = mesh.axes.size(); a-- > 0;) {
    g.stride[a] = g.devices;
    g.devices *= mesh.axes[a].size;
    g.all |= AxisSet{1} << a;
  }
  for (const Axis& axis : mesh.axes) g.size.push_back(axis.size);
  return g;
}

std::vector<std::int64_t> offsets(const Grid& g, AxisSet set) {
  std::vector<std::int64_t> all{0};
  for (std::size_t a = 0; a < g.size.size(); ++a) {
    if (!contains(set, static_cast<AxisId>(a)) || g.size[a] == 1) continue;
    std::vector<std::int64_t> next;
    next.reserve(all.size() * g.size[a]);
    for (std::int64_t offset : all)
      for (std::int64_t i = 0; i < g.size[a]; ++i) next.push_back(offset + i * g.stride[a]);
    all = std::move(next);
  }
  return all;
}

std::int64_t along(const Grid& g, std::int64_t position, AxisSet set) {
  std::int64_t sum = 0;
  for (std::size_t a = 0; a < g.size.size(); ++a)
    if (contains(set, static_cast<AxisId>(a))) sum += position / g.stride[a] % g.size[a] * g.stride[a];
  return sum;
}

std::int64_t at_index(const Grid& g, const std::vector<AxisId>& axes, std::int64_t index, AxisSet set) {
  std::int64_t position = 0;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (contains(set, *axis)) position += index % g.size[*axis] * g.stride[*axis];
    index /= g.size[*axis];
  }
  return position;
}

}  // namespace plumb
