// The meshes of a sweep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// The sizes of a mesh, one for each of its axes in order.
using Sizes = std::vector<std::int64_t>;

// "dp=1,2,4": the sizes one axis takes.
struct AxisSizes {
  std::string axis;
  Sizes sizes;
};
AxisSizes parse_axis_sizes(std::string_view text);                     // throws BadInput
std::vector<std::int64_t> parse_device_counts(std::string_view text);  // "4,8,16"; throws BadInput

// Every combination, of axes that the mesh has; one that is not given keeps its size.
std::vector<Sizes> combinations(const Mesh&, const std::vector<AxisSizes>&);

// Every way to write n as a product of `axes` sizes, 1 among them: 12 over two axes gives 1x12 2x6 3x4 ...
std::vector<Sizes> factorisations(std::int64_t n, std::size_t axes);

// The same case on another mesh: the arrays stay as they are. Throws BadInput where that is no case.
Case on_sizes(const Case&, const Sizes&);

}  // namespace plumb
