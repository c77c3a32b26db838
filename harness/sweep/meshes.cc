#include "harness/sweep/meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "reference/words/text.h"

namespace plumb {

AxisSizes parse_axis_sizes(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw bad_input("--axis: expected NAME=SIZE,SIZE,...", text, equals == 0 ? 0 : text.size());
  AxisSizes sizes{std::string(text.substr(0, equals)), {}};
  const char *at = text.data() + equals + 1, *end = text.data() + text.size();
  for (;; ++at) {
    std::int64_t size = 0;
    const auto [rest, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 1)
      throw bad_input("--axis: expected a size of at least 1", text, at - text.data());
    sizes.sizes.push_back(size);
    at = rest;
    if (at == end) return sizes;
    if (*at != ',') throw bad_input("--axis: expected ','", text, at - text.data());
  }
}

std::vector<Sizes> combinations(const Mesh& mesh, const std::vector<AxisSizes>& given) {
  std::vector<Sizes> choices;
  for (const Axis& axis : mesh.axes) choices.push_back({axis.size});
  for (const AxisSizes& one : given) {
    const auto axis = std::ranges::find(mesh.axes, one.axis, &Axis::name);
    if (axis == mesh.axes.end())
      throw BadInput(fmt::format("--axis {}: the case is on {}", one.axis, print(mesh)));
    choices[axis - mesh.axes.begin()] = one.sizes;
  }
  std::vector<Sizes> all = {{}};
  for (const Sizes& sizes : choices) {
    std::vector<Sizes> longer;
    for (const Sizes& prefix : all)
      for (std::int64_t size : sizes) {
        longer.push_back(prefix);
        longer.back().push_back(size);
      }
    all = std::move(longer);
  }
  return all;
}

std::vector<Sizes> factorisations(std::int64_t n, std::size_t axes) {
  if (axes == 0) return n == 1 ? std::vector<Sizes>{{}} : std::vector<Sizes>{};
  std::vector<Sizes> all;
  for (std::int64_t first = 1; first <= n; ++first) {
    if (n % first != 0) continue;
    for (Sizes& rest : factorisations(n / first, axes - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

Case on_sizes(const Case& c, const Sizes& sizes) {
  Case moved = c;
  for (std::size_t i = 0; i < sizes.size(); ++i) moved.mesh.axes[i].size = sizes[i];
  return parse_case(print(moved));
}

}  // namespace plumb
