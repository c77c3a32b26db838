// Orders of devices, meshes, groups.
#include <algorithm>

#include "reference/hlo/module/parse.h"

namespace plumb::hlo {

bool is_permutation(Integers list, std::int64_t count) {
  std::ranges::sort(list);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] != static_cast<std::int64_t>(i)) return false;
  return std::ssize(list) == count;
}

namespace {

std::int64_t scanned_product(Scan& scan, const Integers& sizes, std::size_t where) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) {
    if (size < 1) scan.fail("a size below one", where);
    if (n > kMostDevices / size) scan.fail("more devices than there are", where);
    n *= size;
  }
  return n;
}

// "[2,4]T(1,0)"
Order scan_iota(Scan& scan) {
  Order order;
  order.reshape = scan.numbers('[', ']');
  if (!scan.take("T")) return order;
  const std::size_t begin = scan.at;
  order.transpose = scan.numbers('(', ')');
  if (!is_permutation(order.transpose, std::ssize(order.reshape))) scan.fail("not a permutation", begin);
  return order;
}

Order checked(Scan& scan, Order order, std::int64_t count, std::size_t begin) {
  const bool right = order.reshape.empty() ? is_permutation(order.list, count)
                                           : scanned_product(scan, order.reshape, begin) == count;
  if (!right) scan.fail("these are not " + std::to_string(count) + " devices, each once", begin);
  return order;
}

}  // namespace

Order scan_order(Scan& scan, std::int64_t count) {
  const std::size_t begin = scan.at;
  Order order;
  if (scan.take("<=")) return checked(scan, scan_iota(scan), count, begin);
  do order.list.push_back(scan.number("a device"));
  while (scan.take(","));
  return checked(scan, std::move(order), count, begin);
}

AxisPart scan_axis(Scan& scan, const Mesh& mesh) {
  const std::size_t begin = scan.at;
  scan.expect("'");
  const std::string name(scan.word("the name of an axis"));
  scan.expect("'");
  const auto found = std::ranges::find(mesh.axes, name, &std::pair<std::string, std::int64_t>::first);
  if (found == mesh.axes.end()) scan.fail("the mesh has no axis " + name, begin);
  AxisPart part{static_cast<int>(found - mesh.axes.begin()), 1, found->second};
  if (!scan.take(":(")) return part;
  part.above = scan.number("a size");
  scan.expect(")");
  part.size = scan.number("a size");
  const bool fits = part.above > 0 && part.size > 0 && part.above <= found->second &&
                    part.size <= found->second && found->second % (part.above * part.size) == 0;
  if (!fits) scan.fail("not a part of an axis of " + std::to_string(found->second), begin);
  return part;
}

namespace {

std::vector<AxisPart> scan_list(Scan& scan, const Mesh& mesh, bool open) {
  std::vector<AxisPart> parts;
  scan.expect("{");
  while (!scan.take("}")) {
    if (!parts.empty()) scan.expect(", ");
    if (open && scan.take("?}")) return parts;
    parts.push_back(scan_axis(scan, mesh));
  }
  return parts;
}

}  // namespace

std::vector<AxisPart> scan_axes(Scan& scan, const Mesh& mesh) { return scan_list(scan, mesh, false); }
std::vector<AxisPart> scan_open(Scan& scan, const Mesh& mesh) { return scan_list(scan, mesh, true); }

Mesh scan_mesh(Scan& scan) {
  Mesh mesh;
  Integers sizes;
  const std::size_t begin = scan.at;
  scan.expect("mesh[");
  while (!scan.take("]")) {
    if (!mesh.axes.empty()) scan.expect(",");
    scan.expect("'");
    std::string name(scan.word("the name of an axis"));
    scan.expect("'=");
    sizes.push_back(scan.number("the size of an axis"));
    mesh.axes.emplace_back(std::move(name), sizes.back());
  }
  const std::int64_t count = scanned_product(scan, sizes, begin);
  if (!scan.take(", device_ids=(")) return mesh;
  const std::size_t ids = scan.at;
  mesh.devices = scan.next_is("[") ? checked(scan, scan_iota(scan), count, ids) : scan_order(scan, count);
  scan.expect(")");
  return mesh;
}

Groups scan_groups(Scan& scan) {
  Groups groups;
  if (scan.next_is("mesh[")) {
    groups.mesh = scan_mesh(scan);
    scan.expect(" {");
    while (!scan.take("}")) {
      if (!groups.axes.empty()) scan.expect(",");
      groups.axes.push_back(scan_axis(scan, groups.mesh));
    }
  } else if (scan.next_is("[")) {
    const std::size_t begin = scan.at;
    const Integers sizes = scan.numbers('[', ']');
    if (sizes.size() != 2) scan.fail("expected the number of groups and of their members", begin);
    groups.rows = sizes[0], groups.columns = sizes[1];
    groups.order = scan_order(scan, scanned_product(scan, sizes, begin));
  } else {
    scan.expect("{");
    while (!scan.take("}")) {
      if (!groups.lists.empty()) scan.expect(",");
      groups.lists.push_back(scan.numbers('{', '}'));
    }
  }
  return groups;
}

}  // namespace plumb::hlo
