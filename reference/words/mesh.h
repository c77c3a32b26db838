// A mesh of devices: named axes with sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct Axis {
  std::string name;
  std::int64_t size = 1;
  bool operator==(const Axis&) const = default;
};

using AxisId = int;  // index into Mesh::axes

constexpr std::size_t most_axes = 64;  // a set of axes is a word of bits

// Devices are numbered row-major over the axes unless ids are given: then position p of the
// row-major order is held by device ids[p].
struct Mesh {
  std::vector<Axis> axes;
  std::vector<std::int64_t> place;  // place[device] is its row-major position; empty: the identity
  bool operator==(const Mesh&) const = default;
};

std::int64_t devices(const Mesh&);
std::int64_t axes_size(const Mesh&, const std::vector<AxisId>& axes);  // product of the sizes

// The inverse of place, empty where place is.
std::vector<std::int64_t> ids(const Mesh&);

// The coordinates of a device, one per axis.
std::vector<std::int64_t> coordinates(const Mesh&, std::int64_t device);

// The coordinate of a device along `axes` read as one digit string, the first axis most significant.
std::int64_t coordinate(const Mesh&, const std::vector<AxisId>& axes, std::int64_t device);

bool contains(const std::vector<AxisId>& axes, AxisId axis);

std::vector<std::string> axis_names(const Mesh&, const std::vector<AxisId>&);
std::vector<AxisId> axes_named(const Mesh&, const std::vector<std::string>&);  // which it has

// Those of `axes` that are also in `others`, in their order.
std::vector<AxisId> shared(const std::vector<AxisId>& axes, const std::vector<AxisId>& others);

// Groups of devices that differ only along `axes`; members in order of their coordinate along
// `axes`, groups in order of their first member's position. Every device is in exactly one.
std::vector<std::vector<std::int64_t>> fibres(const Mesh&, const std::vector<AxisId>& axes);

}  // namespace plumb
