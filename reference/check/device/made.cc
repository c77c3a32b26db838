#include "reference/check/device/made.h"

#include "reference/check/check.h"
#include "reference/words/tensor.h"

namespace plumb {

Cutout cutout(const std::vector<std::int64_t>& shape, const Slice& slice) {
  Cutout cut;
  cut.dims = static_cast<int>(slice.size());
  const std::vector<std::int64_t> steps = strides(shape);
  for (int d = 0; d < cut.dims; ++d) {
    cut.sizes[d] = slice[d].size(), cut.steps[d] = steps[d];
    cut.first += slice[d].begin * steps[d], cut.count *= slice[d].size();
  }
  return cut;
}

std::optional<MadeOf> made(const Prover& p) {
  if (!p.unprovable.empty() || !is_reshard(p.c)) return {};
  const std::optional<AtIndex> data = drawn_at(p.data, 0);
  if (!data) return {};
  const Spec& from = p.c.op.operands[0];
  return MadeOf{*data,
                p.data.sources[0].dtype,
                p.data.sources[0].parts,
                from.reduction,
                static_cast<double>(axes_size(p.c.mesh, from.averaged)),
                !sums(p.c.op) && p.c.fill == Fill::provenance};
}

}  // namespace plumb
