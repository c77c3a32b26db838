#include <cassert>

#include "reference/exact/exact.h"
#include "reference/meaning/meaning.h"

namespace plumb {

Tensor finish(const Mesh& mesh, const Spec& spec, const Tensor& parts, DType out) {
  if (spec.reduction != Reduce::sum) {
    assert(out == parts.dtype);
    return extreme_parts(parts, spec.reduction == Reduce::max ? Extreme::largest : Extreme::smallest);
  }
  const std::int64_t n = axes_size(mesh, spec.averaged);
  return n == 1 ? sum_parts(parts, out) : mean_parts(parts, n, out);
}

}  // namespace plumb
