#include "reference/words/scan_mesh.h"

#include <algorithm>
#include <utility>

#include "reference/words/legal.h"

namespace plumb {

Mesh scan_mesh(Scan& scan) {
  Mesh mesh;
  const std::size_t begin = scan.at;
  __int128 count = 1;
  do {
    const std::size_t at = scan.at;
    const std::string name(scan.name("the name of an axis"));
    if (std::ranges::any_of(mesh.axes, [&](const Axis& axis) { return axis.name == name; }))
      scan.fail("the mesh has an axis '" + name + "' already", at);
    scan.expect("=");
    const std::size_t size_at = scan.at;
    const std::int64_t size = scan.number("the size of axis '" + name + "'");
    if (size < 1) scan.fail("an axis has at least one device", size_at);
    if ((count *= size) > most_devices)
      scan.fail("the mesh would have more than " + std::to_string(most_devices) + " devices", begin);
    if (mesh.axes.size() == most_axes)
      scan.fail("a mesh has at most " + std::to_string(most_axes) + " axes", at);
    mesh.axes.push_back({name, size});
  } while (scan.take(","));
  return mesh;
}

void scan_ids(Scan& scan, Mesh& mesh) {
  const std::int64_t count = devices(mesh);
  std::vector<std::int64_t> place(count, -1);
  std::int64_t position = 0;
  bool row_major = true;
  do {
    const std::size_t at = scan.at;
    const std::int64_t id = scan.number("a device id");
    if (id >= count) scan.fail("the mesh has devices 0 to " + std::to_string(count - 1), at);
    if (place[id] >= 0) scan.fail("device " + std::to_string(id) + " stands twice", at);
    if (position == count) scan.fail("the mesh has only " + std::to_string(count) + " devices", at);
    row_major &= id == position;
    place[id] = position++;
  } while (scan.take(","));
  if (position < count) scan.fail("expected ',' and the ids of all " + std::to_string(count) + " devices");
  if (!row_major) mesh.place = std::move(place);
}

void scan_meshes(Scan& scan, Case& c) {
  Mesh mesh = scan_mesh(scan);
  scan.spaces();
  const std::size_t of_at = scan.at;
  if (scan.take("of ")) {
    scan.spaces();
    c.mesh = scan_mesh(scan);
    scan.spaces();
    for (const Axis& axis : mesh.axes) {
      const auto same = std::ranges::find(c.mesh.axes, axis);
      if (same == c.mesh.axes.end())
        scan.fail("the mesh after 'of' has no axis " + axis.name + "=" + std::to_string(axis.size), of_at);
      c.sub.push_back(static_cast<AxisId>(same - c.mesh.axes.begin()));
    }
    if (mesh == c.mesh) c.sub.clear();
  } else {
    c.mesh = std::move(mesh);
  }
  if (scan.take("ids=")) scan_ids(scan, c.mesh);
  if (!scan.take(":")) scan.fail(!c.mesh.place.empty() ? "expected ':'" : "expected ',', ids= or ':'");
}

}  // namespace plumb
