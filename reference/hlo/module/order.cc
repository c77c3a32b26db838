#include "reference/hlo/module/order.h"

#include <numeric>

namespace plumb::hlo {
namespace {

std::string joined(const Integers& list) {
  const std::string text = print_list(list);
  return text.substr(1, text.size() - 2);
}

}  // namespace

Integers expand(const Order& order) {
  if (order.reshape.empty()) return order.list;
  const std::size_t rank = order.reshape.size();
  Integers strides(rank, 1), steps(rank), sizes(rank);
  for (std::size_t i = rank - 1; i > 0; --i) strides[i - 1] = strides[i] * order.reshape[i];
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from = order.transpose.empty() ? i : static_cast<std::size_t>(order.transpose[i]);
    steps[i] = strides[from], sizes[i] = order.reshape[from];
  }
  Integers ids = {0};
  for (std::size_t i = 0; i < rank; ++i) {
    Integers wider;
    wider.reserve(ids.size() * static_cast<std::size_t>(sizes[i]));
    for (const std::int64_t id : ids)
      for (std::int64_t n = 0; n < sizes[i]; ++n) wider.push_back(id + n * steps[i]);
    ids = std::move(wider);
  }
  return ids;
}

std::int64_t size(const Mesh& mesh) {
  std::int64_t n = 1;
  for (const auto& [name, extent] : mesh.axes) n *= extent;
  return n;
}

Integers digits(const Mesh& mesh, const std::vector<AxisPart>& parts) {
  Integers below(mesh.axes.size(), 1);  // positions that one step along an axis passes
  for (std::size_t i = below.size(); i-- > 1;) below[i - 1] = below[i] * mesh.axes[i].second;
  Integers all(static_cast<std::size_t>(size(mesh)));
  for (std::size_t p = 0; p < all.size(); ++p)
    for (const AxisPart& part : parts) {
      const auto axis = static_cast<std::size_t>(part.axis);
      const std::int64_t extent = mesh.axes[axis].second,
                         along = static_cast<std::int64_t>(p) / below[axis] % extent;
      all[p] = all[p] * part.size + along / (extent / (part.above * part.size)) % part.size;
    }
  return all;
}

namespace {

// Members vary over the axes as listed, the last fastest; groups over the rest in the order of the mesh.
std::vector<Integers> along(const Mesh& mesh, const std::vector<AxisPart>& axes) {
  const Integers member = digits(mesh, axes), ids = expand(mesh.devices);
  std::int64_t members = 1;
  for (const AxisPart& part : axes) members *= part.size;
  const auto count = static_cast<std::size_t>(size(mesh) / members);
  std::vector<Integers> groups(count, Integers(static_cast<std::size_t>(members)));
  Integers met(
      static_cast<std::size_t>(members));  // each member's digit is met once a group, in the mesh's order
  for (std::size_t p = 0; p < member.size(); ++p) {
    const auto m = static_cast<std::size_t>(member[p]);
    groups[static_cast<std::size_t>(met[m]++)][m] = ids.empty() ? static_cast<std::int64_t>(p) : ids[p];
  }
  return groups;
}

}  // namespace

std::vector<Integers> expand(const Groups& groups, std::int64_t devices) {
  if (!groups.mesh.axes.empty()) return along(groups.mesh, groups.axes);
  if (groups.rows > 0) {
    const Integers ids = expand(groups.order);
    std::vector<Integers> lists;
    for (auto at = ids.begin(); at != ids.end(); at += groups.columns)
      lists.emplace_back(at, at + groups.columns);
    return lists;
  }
  if (!groups.lists.empty()) return groups.lists;
  Integers all(static_cast<std::size_t>(devices));
  std::iota(all.begin(), all.end(), 0);
  return {all};
}

std::string print(const Order& order) {
  if (order.reshape.empty()) return joined(order.list);
  return "<=[" + joined(order.reshape) + "]" +
         (order.transpose.empty() ? "" : "T(" + joined(order.transpose) + ")");
}

std::string print(const Mesh& mesh) {
  std::string text;
  for (const auto& [name, extent] : mesh.axes)
    text += (text.empty() ? "'" : ",'") + name + "'=" + std::to_string(extent);
  text = "mesh[" + text + "]";
  const Order& order = mesh.devices;
  if (order == Order{}) return text;
  const std::string ids = print(order);
  return text + ", device_ids=(" + (order.reshape.empty() ? ids : ids.substr(2)) + ")";
}

std::string print(const Mesh& mesh, const AxisPart& part) {
  const auto& [name, extent] = mesh.axes[static_cast<std::size_t>(part.axis)];
  if (part.size == extent) return "'" + name + "'";
  return "'" + name + "':(" + std::to_string(part.above) + ")" + std::to_string(part.size);
}

std::string print(const Groups& groups) {
  if (!groups.mesh.axes.empty()) {
    std::string text;
    for (const AxisPart& part : groups.axes) text += (text.empty() ? "" : ",") + print(groups.mesh, part);
    return print(groups.mesh) + " {" + text + "}";
  }
  if (groups.rows > 0)
    return "[" + std::to_string(groups.rows) + "," + std::to_string(groups.columns) + "]" +
           print(groups.order);
  std::string text;
  for (const Integers& list : groups.lists) text += (text.empty() ? "" : ",") + print_list(list);
  return "{" + text + "}";
}

}  // namespace plumb::hlo
