// Which device stands where: orders of devices, meshes of named axes, groups.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/hlo/module/shape.h"

namespace plumb::hlo {

// A permutation of 0..n-1, written out or as an iota that is reshaped and transposed:
//   0,2,1,3          list
//   <=[4]            reshape [4]: the identity
//   <=[2,2]T(1,0)    reshape [2,2], transpose (1,0): 0,2,1,3
struct Order {
  Integers list, reshape, transpose;
  bool operator==(const Order&) const = default;
};

// The ids in order. A transpose that is empty leaves the iota as it is.
Integers expand(const Order&);

// Named axes with sizes; position p of the row-major order is held by device expand(devices)[p], or p where
// no order is given.
struct Mesh {
  std::vector<std::pair<std::string, std::int64_t>> axes;
  Order devices;
  bool operator==(const Mesh&) const = default;
};

// An axis of a mesh, or a part of one: `'x':(2)4` is the digit of size 4 below one of size 2.
struct AxisPart {
  int axis = 0;
  std::int64_t above = 1, size = 0;
  bool operator==(const AxisPart&) const = default;
};

std::int64_t size(const Mesh&);
// The position of a digit string of parts, the first most significant, for each position of the mesh.
Integers digits(const Mesh&, const std::vector<AxisPart>&);

// Groups of devices, in one of the forms that HLO text has:
//   {{0,1},{2,3}}                              lists
//   [2,2]<=[4]                                 rows of an order
//   mesh['a'=2,'b'=2] {'b'}                    devices that differ only along the axes
// {} is everyone in one group.
struct Groups {
  std::vector<Integers> lists;
  std::int64_t rows = 0, columns = 0;
  Order order;
  Mesh mesh;
  std::vector<AxisPart> axes;
  bool operator==(const Groups&) const = default;
};

// The groups written out; members in the order that concatenations and chunks follow.
std::vector<Integers> expand(const Groups&, std::int64_t devices);

std::string print(const Order&);
std::string print(const Mesh&);
std::string print(const Mesh&, const AxisPart&);
std::string print(const Groups&);

}  // namespace plumb::hlo
