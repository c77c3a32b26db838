#include "harness/sweep/meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "reference/words/legal.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

// "1,2,4", from `at` to the end of the text of a flag.
Sizes parse_sizes(const std::string& flag, std::string_view text, std::size_t begin, std::int64_t most) {
  Sizes sizes;
  const char *at = text.data() + begin, *end = text.data() + text.size();
  const auto fail = [&](const std::string& message) {
    return bad_input(fmt::format("{}: {}", flag, message), text, at - text.data());
  };
  for (;; ++at) {
    std::int64_t size = 0;
    const auto [rest, error] = std::from_chars(at, end, size);
    if (error == std::errc::result_out_of_range || size > most)
      throw fail(fmt::format("expected at most {} devices", most));
    if (error != std::errc() || size < 1) throw fail("expected a size of at least 1");
    sizes.push_back(size);
    at = rest;
    if (at == end) return sizes;
    if (*at != ',') throw fail("expected ','");
  }
}

}  // namespace

AxisSizes parse_axis_sizes(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw bad_input("--axis: expected NAME=SIZE,SIZE,...", text, equals == 0 ? 0 : text.size());
  return {std::string(text.substr(0, equals)), parse_sizes("--axis", text, equals + 1, most_devices)};
}

std::vector<std::int64_t> parse_device_counts(std::string_view text) {
  return parse_sizes("--meshes", text, 0, std::int64_t{1} << 20);
}

std::vector<Sizes> combinations(const Mesh& mesh, const std::vector<AxisSizes>& given) {
  std::vector<Sizes> choices;
  for (const Axis& axis : mesh.axes) choices.push_back({axis.size});
  for (const AxisSizes& one : given) {
    const auto axis = std::ranges::find(mesh.axes, one.axis, &Axis::name);
    assert(axis != mesh.axes.end());
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
