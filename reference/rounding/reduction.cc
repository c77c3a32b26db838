#include <algorithm>
#include <set>
#include <string>

#include "reference/rounding/bound.h"

namespace plumb {
namespace {

// The dimensions of an operand over which the case adds.
std::vector<int> summed(const Case& c, int operand) {
  std::vector<int> dims;
  if (const auto* e = std::get_if<Einsum>(&c.op.kind)) {
    const std::string& own = operand == 0 ? e->lhs : e->rhs;
    for (std::size_t d = 0; d < own.size(); ++d)
      if (e->out.find(own[d]) == std::string::npos) dims.push_back(static_cast<int>(d));
  } else if (const auto* g = std::get_if<Grouped>(&c.op.kind)) {
    //            x or dy   w or dy
    // fwd        k = 1     k = 1
    // dgrad      n = 1     n = 2
    // wgrad      t = 0     t = 0
    const int dim[3][2] = {
        {1, 1},
        {1, 2},
        {0, 0}
    };
    dims.push_back(dim[static_cast<int>(g->form)][operand]);
  }
  return dims;
}

// The axes along which the ranks' sums must be reduced.
std::set<AxisId> reduced_axes(const Case& c) {
  std::set<AxisId> axes;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    const Spec& spec = c.op.operands[i];
    axes.insert(spec.unfinished.begin(), spec.unfinished.end());
    for (int d : summed(c, static_cast<int>(i)))
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
  for (int d : is_reshard(c) ? std::vector<int>{} : summed(c, 0)) r.terms *= c.op.operands[0].dims[d].size;
  // An unfinished operand of a product is one more sum, of products with each of its parts.
  if (!is_reshard(c))
    for (const Spec& spec : c.op.operands) r.terms *= parts(c.mesh, spec);
  const std::set<AxisId> axes = reduced_axes(c);
  r.parts = axes_size(c.mesh, {axes.begin(), axes.end()});
  if (is_reshard(c) || (r.terms == 1 && rounded_once(c, r))) r.terms = 0;
  const auto unfinished = [&](const Spec& spec) { return parts(c.mesh, spec) > 1; };
  if (std::ranges::any_of(c.op.chain, unfinished) && format(r.out).digits < format(r.wire).digits)
    r.wire = r.out;
  return r;
}

}  // namespace plumb
