#include "reference/words/mesh.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace plumb {

std::int64_t devices(const Mesh& mesh) {
  std::int64_t n = 1;
  for (const Axis& axis : mesh.axes) n *= axis.size;
  return n;
}

std::int64_t axes_size(const Mesh& mesh, const std::vector<AxisId>& axes) {
  std::int64_t n = 1;
  for (AxisId axis : axes) n *= mesh.axes[axis].size;
  return n;
}

std::vector<std::int64_t> ids(const Mesh& mesh) {
  std::vector<std::int64_t> ids(mesh.place.size());
  for (std::size_t device = 0; device < ids.size(); ++device) ids[mesh.place[device]] = device;
  return ids;
}

std::vector<std::int64_t> coordinates(const Mesh& mesh, std::int64_t device) {
  std::int64_t position = mesh.place.empty() ? device : mesh.place[device];
  std::vector<std::int64_t> at(mesh.axes.size());
  for (std::size_t a = mesh.axes.size(); a-- > 0;) {
    at[a] = position % mesh.axes[a].size;
    position /= mesh.axes[a].size;
  }
  return at;
}

std::int64_t coordinate(const Mesh& mesh, const std::vector<AxisId>& axes, std::int64_t device) {
  if (axes.empty()) return 0;
  const std::int64_t position = mesh.place.empty() ? device : mesh.place[device];
  std::int64_t at = 0;
  for (AxisId axis : axes) {
    std::int64_t stride = 1;
    for (std::size_t a = mesh.axes.size() - 1; a > static_cast<std::size_t>(axis); --a)
      stride *= mesh.axes[a].size;
    at = at * mesh.axes[axis].size + position / stride % mesh.axes[axis].size;
  }
  return at;
}

std::vector<std::vector<std::int64_t>> fibres(const Mesh& mesh, const std::vector<AxisId>& axes) {
  const std::int64_t n = devices(mesh), size = axes_size(mesh, axes);
  std::vector<AxisId> others;
  for (AxisId a = 0; a < static_cast<AxisId>(mesh.axes.size()); ++a) {
    bool along = false;
    for (AxisId axis : axes) along |= axis == a;
    if (!along) others.push_back(a);
  }
  std::vector<std::vector<std::int64_t>> groups(size == 0 ? 0 : n / size, std::vector<std::int64_t>(size));
  for (std::int64_t device = 0; device < n; ++device)
    groups[coordinate(mesh, others, device)][coordinate(mesh, axes, device)] = device;
  return groups;
}

bool contains(const std::vector<AxisId>& axes, AxisId axis) { return std::ranges::count(axes, axis) > 0; }

std::vector<std::string> axis_names(const Mesh& mesh, const std::vector<AxisId>& axes) {
  std::vector<std::string> names;
  for (AxisId axis : axes) names.push_back(mesh.axes[axis].name);
  return names;
}

std::vector<AxisId> axes_named(const Mesh& mesh, const std::vector<std::string>& names) {
  std::vector<AxisId> axes;
  for (const std::string& name : names)
    axes.push_back(static_cast<AxisId>(std::ranges::find(mesh.axes, name, &Axis::name) - mesh.axes.begin()));
  return axes;
}

std::vector<AxisId> shared(const std::vector<AxisId>& axes, const std::vector<AxisId>& others) {
  std::vector<AxisId> both;
  std::ranges::copy_if(axes, std::back_inserter(both), [&](AxisId axis) { return contains(others, axis); });
  return both;
}

}  // namespace plumb
