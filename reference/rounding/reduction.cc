#include <algorithm>
#include <set>
#include <string>

#include "reference/rounding/bound.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

// The axes along which the ranks' sums must be reduced.
std::set<AxisId> reduced_axes(const Case& c) {
  std::set<AxisId> axes;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    const Spec& spec = c.op.operands[i];
    axes.insert(spec.unfinished.begin(), spec.unfinished.end());
    for (int d : contracted_dims(c.op, static_cast<int>(i)))
      axes.insert(spec.dims[d].axes.begin(), spec.dims[d].axes.end());
  }
  for (const Spec& spec : c.op.chain) axes.insert(spec.unfinished.begin(), spec.unfinished.end());
  return axes;
}

// Whether a lone product is exact until it becomes the result.
bool rounded_once(const Case& c, const Reduction& r) {
  const auto digits = [&](int i) { return format(c.op.operands[i].dtype).digits; };
  return digits(0) + digits(1) <= format(r.acc).digits || (r.acc == r.out && r.parts == 1);
}

}  // namespace

Reduction reduction(const Case& c) {
  Reduction r{c.acc, c.wire, result(c).dtype, 1};
  for (int d : contracted_dims(c.op, 0)) r.terms *= c.op.operands[0].dims[d].size;
  // An unfinished operand of a product is one more sum, of products with each of its parts.
  if (!is_reshard(c))
    for (const Spec& spec : c.op.operands) r.terms *= parts(c.mesh, spec);
  const std::set<AxisId> axes = reduced_axes(c);
  r.parts = axes_size(c.mesh, {axes.begin(), axes.end()});
  if (is_reshard(c) || (r.terms == 1 && rounded_once(c, r))) r.terms = 0;
  // A mean rounds twice more: the reciprocal of the number of parts, and the product with it.
  if (r.parts > 1 && !c.op.operands[0].averaged.empty()) r.parts += 2;
  const auto unfinished = [&](const Spec& spec) { return parts(c.mesh, spec) > 1; };
  if (std::ranges::any_of(c.op.chain, unfinished) && format(r.out).digits < format(r.wire).digits)
    r.wire = r.out;
  return r;
}

}  // namespace plumb
