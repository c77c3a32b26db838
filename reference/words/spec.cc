#include "reference/words/spec.h"

#include <algorithm>

namespace plumb {
namespace {

// [0, size) cut once into `count` ceil-sized pieces; trailing ones may be short or empty.
Range cut_once(Range whole, std::int64_t count, std::int64_t index) {
  const std::int64_t step = (whole.size() + count - 1) / count;
  return {std::min(whole.begin + index * step, whole.end),
          std::min(whole.begin + (index + 1) * step, whole.end)};
}

}  // namespace

std::vector<std::int64_t> shape(const Spec& spec) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(spec.dims.size());
  for (const Dim& dim : spec.dims) sizes.push_back(dim.size);
  return sizes;
}

std::int64_t elements(const Spec& spec) {
  std::int64_t n = 1;
  for (const Dim& dim : spec.dims) n *= dim.size;
  return n;
}

std::int64_t bytes(const Spec& spec) { return elements(spec) * format(spec.dtype).bytes; }

Spec finished(Spec spec) {
  spec.unfinished.clear();
  spec.averaged.clear();
  spec.reduction = Reduce::sum;
  return spec;
}

bool reduced_alike(const Spec& a, const Spec& b) {
  const auto has = [](const std::vector<AxisId>& axes, AxisId axis) {
    return std::ranges::count(axes, axis) > 0;
  };
  return std::ranges::none_of(a.unfinished, [&](AxisId axis) {
    return has(b.unfinished, axis) &&
           (a.reduction != b.reduction || has(a.averaged, axis) != has(b.averaged, axis));
  });
}

std::int64_t parts(const Mesh& mesh, const Spec& spec) { return axes_size(mesh, spec.unfinished); }

std::int64_t part(const Mesh& mesh, const Spec& spec, std::int64_t device) {
  return coordinate(mesh, spec.unfinished, device);
}

std::int64_t elements(const Slice& slice) {
  std::int64_t n = 1;
  for (const Range& range : slice) n *= range.size();
  return n;
}

bool same(const Slice& a, const Slice& b) { return a == b || (elements(a) == 0 && elements(b) == 0); }

Range piece(const Mesh& mesh, const Dim& dim, Rule rule, std::int64_t index) {
  std::int64_t count = axes_size(mesh, dim.axes);
  if (rule == Rule::flat) return cut_once({0, dim.size}, count, index);
  Range range{0, dim.size};
  for (AxisId axis : dim.axes) {
    count /= mesh.axes[axis].size;
    range = cut_once(range, mesh.axes[axis].size, index / count);
    index %= count;
  }
  return range;
}

Slice block(const Mesh& mesh, const Spec& spec, Rule rule, std::int64_t device) {
  Slice slice;
  slice.reserve(spec.dims.size());
  for (const Dim& dim : spec.dims)
    slice.push_back(piece(mesh, dim, rule, coordinate(mesh, dim.axes, device)));
  return slice;
}

std::int64_t largest_block_bytes(const Mesh& mesh, const Spec& spec, Rule rule) {
  std::int64_t n = format(spec.dtype).bytes;
  for (const Dim& dim : spec.dims) n *= piece(mesh, dim, rule, 0).size();
  return n;
}

}  // namespace plumb
