#include "reference/fill/fill.h"

#include <cassert>

#include "reference/fill/recipe.h"

namespace plumb {

Tensor fill(const Case& c, int operand) {
  const Recipe r = recipe(c);
  const Source& source = r.sources[operand];
  std::vector<std::int64_t> sizes = source.shape;
  if (!c.op.operands[operand].unfinished.empty()) sizes.insert(sizes.begin(), source.parts);
  Tensor all = zeros(source.dtype, std::move(sizes));
  Portion portion{operand, 0, {}};
  for (std::int64_t size : source.shape) portion.slice.push_back({0, size});
  const std::int64_t part_bytes = source.elements * format(source.dtype).bytes;
  for (; portion.part < source.parts; ++portion.part)
    write(r, portion, all.bytes.data() + portion.part * part_bytes);
  return all;
}

Tensor fill_slice(const Case& c, int operand, std::int64_t p, const Slice& slice) {
  const Recipe r = recipe(c);
  assert(p < r.sources[operand].parts);
  std::vector<std::int64_t> sizes;
  for (const Range& range : slice) sizes.push_back(range.size());
  Tensor dense = zeros(r.sources[operand].dtype, std::move(sizes));
  write(r, {operand, p, slice}, dense.bytes.data());
  return dense;
}

std::int64_t origin(const Case& c, std::uint64_t bits) {
  const Recipe r = recipe(c);
  const auto* p = std::get_if<Provenance>(&r.data);
  if (!p || !p->distinct) return -1;
  const std::uint64_t n = number(p->patterns, bits);
  if (n == p->patterns.count) return -1;
  const std::uint64_t index = inverse(p->order, n);
  return index < static_cast<std::uint64_t>(r.sources[0].elements) ? static_cast<std::int64_t>(index) : -1;
}

}  // namespace plumb
