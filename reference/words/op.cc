#include "reference/words/op.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "reference/words/fnv.h"
#include "reference/words/text.h"

namespace plumb {

std::span<const Spec> results(const Case& c) {
  const std::span<const Spec> chain = c.op.chain;
  return is_quantize(c) ? chain : chain.last(1);
}

bool quantizes(const Op& op) {
  return std::holds_alternative<Quantize>(op.kind) ||
         std::ranges::any_of(op.operands, [](const Spec& spec) { return spec.scheme != Scheme::none; });
}

bool sums(const Op& op) {
  if (std::holds_alternative<Resolve>(op.kind)) return false;
  if (std::holds_alternative<Quantize>(op.kind)) return false;
  if (!std::holds_alternative<Reshard>(op.kind)) return true;
  const auto unfinished = [](const Spec& spec) { return !spec.unfinished.empty(); };
  return std::ranges::any_of(op.operands, unfinished) || std::ranges::any_of(op.chain, unfinished);
}

DType default_acc(const Op& op) {
  if (op.operands.empty()) return DType::f32;
  const DType dtype = op.operands.front().dtype;
  if (format(dtype).integer) return DType::s32;
  return std::ranges::any_of(op.operands, [](const Spec& spec) { return spec.dtype == DType::f64; })
             ? DType::f64
             : DType::f32;
}

DType default_wire(const Op& op) {
  for (const Spec& spec : op.operands)
    if (!spec.unfinished.empty()) return spec.dtype;
  return op.chain.front().dtype;
}

Fill default_fill(const Op& op) {
  return quantizes(op) ? Fill::scaled : sums(op) ? Fill::cancel : Fill::provenance;
}

std::uint64_t data_seed(const Case& c) { return c.seed ? *c.seed : fnv(print(c)); }

Case seeded(Case c) {
  c.seed = data_seed(c);
  return c;
}

Mesh program_mesh(const Case& c) {
  if (c.sub.empty()) return c.mesh;
  Mesh mesh;
  for (AxisId axis : c.sub) mesh.axes.push_back(c.mesh.axes[axis]);
  return mesh;
}

std::vector<std::vector<std::int64_t>> slices(const Case& c) {
  if (!c.sub.empty()) return fibres(c.mesh, c.sub);
  if (!c.mesh.place.empty()) return {ids(c.mesh)};
  std::vector<std::int64_t> all(devices(c.mesh));
  std::iota(all.begin(), all.end(), 0);
  return {all};
}

Spec renamed(Spec spec, const std::vector<AxisId>& to) {
  const auto rename = [&](std::vector<AxisId>& axes) {
    for (AxisId& axis : axes) axis = to[axis];
  };
  for (Dim& dim : spec.dims) rename(dim.axes);
  rename(spec.unfinished);
  rename(spec.averaged);
  return spec;
}

Case slice_case(const Case& c) {
  if (c.sub.empty()) return c;
  Case one = seeded(c);
  one.mesh = program_mesh(c);
  one.sub.clear();
  std::vector<AxisId> to(c.mesh.axes.size(), -1);
  for (std::size_t i = 0; i < c.sub.size(); ++i) to[c.sub[i]] = static_cast<AxisId>(i);
  for (std::vector<Spec>* specs : {&one.op.operands, &one.op.chain})
    for (Spec& spec : *specs) spec = renamed(std::move(spec), to);
  return one;
}

std::vector<std::vector<Range>> group_rows(const std::vector<std::vector<std::int64_t>>& sizes,
                                           std::int64_t rows) {
  const std::int64_t block = rows / static_cast<std::int64_t>(sizes.size());
  std::vector<std::vector<Range>> runs(sizes.front().size());
  std::int64_t start = 0;
  for (const std::vector<std::int64_t>& list : sizes) {
    std::int64_t at = start;
    for (std::size_t g = 0; g < list.size(); ++g) {
      runs[g].push_back({at, at + list[g]});
      at += list[g];
    }
    start += block;
  }
  return runs;
}

}  // namespace plumb
