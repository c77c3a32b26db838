#include "reference/rounding/reduction.h"

#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "reference/words/letters.h"

namespace plumb {
namespace {

using Axes = std::set<AxisId>;

// The axes along which the ranks' sums must be reduced.
Axes reduced_axes(const Case& c) {
  Axes axes;
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
  const int acc = format(r.acc).digits;
  return digits(0) + digits(1) <= acc ||
         (r.acc == r.out && r.parts == 1 && std::max(digits(0), digits(1)) <= acc);
}

// How many ranks' values are added up on the way of an element, one reduction after the other: of each
// operand of a product, of the products, and wherever the chain finishes some of the axes.
std::int64_t added_in_turn(const Case& c) {
  std::int64_t added = 0;
  const auto add = [&](const Axes& axes) {
    const std::int64_t size = axes_size(c.mesh, {axes.begin(), axes.end()});
    added += size > 1 ? size : 0;
  };
  Axes pending;
  for (std::size_t i = 0; i < c.op.operands.size(); ++i) {
    const Spec& spec = c.op.operands[i];
    if (is_reshard(c)) pending = Axes(spec.unfinished.begin(), spec.unfinished.end());
    if (!is_reshard(c)) add(Axes(spec.unfinished.begin(), spec.unfinished.end()));
    for (int d : contracted_dims(c.op, static_cast<int>(i)))
      pending.insert(spec.dims[d].axes.begin(), spec.dims[d].axes.end());
  }
  for (const Spec& spec : c.op.chain) {
    const Axes next(spec.unfinished.begin(), spec.unfinished.end());
    std::erase_if(pending, [&](AxisId axis) { return next.contains(axis); });
    add(pending);
    pending = next;
  }
  add(pending);
  return added;
}

}  // namespace

Reduction reduction(const Case& c) {
  Reduction r{c.acc, c.wire, result(c).dtype, 1};
  for (int d : contracted_dims(c.op, 0)) r.terms *= c.op.operands[0].dims[d].size;
  // An unfinished operand of a product is one more sum, of products with each of its parts.
  if (!is_reshard(c))
    for (const Spec& spec : c.op.operands) r.terms *= parts(c.mesh, spec);
  const Axes axes = reduced_axes(c);
  r.parts = std::max(axes_size(c.mesh, {axes.begin(), axes.end()}), added_in_turn(c));
  if (is_reshard(c) || (r.terms == 1 && rounded_once(c, r))) r.terms = 0;
  // An accumulator narrower than an operand: the operand is rounded before it is multiplied.
  for (const Spec& spec : c.op.operands)
    if (r.terms > 0 && format(spec.dtype).digits > format(r.acc).digits) ++r.terms;
  // A mean rounds twice more: the reciprocal of the number of parts, and the product with it; by a power of
  // two neither.
  const auto divides = [&](const Spec& spec) {
    return !std::has_single_bit(static_cast<std::uint64_t>(axes_size(c.mesh, spec.averaged)));
  };
  if (divides(c.op.operands[0]) || std::ranges::any_of(c.op.chain, divides)) r.parts += 2;
  const auto store = [&](const Spec& spec, DType as) {
    if (parts(c.mesh, spec) > 1 && format(as).digits < format(r.stored).digits) r.stored = as;
  };
  for (const Spec& spec : c.op.chain) store(spec, r.out);
  // An operand that is finished before it is multiplied is stored in its dtype.
  for (const Spec& spec : c.op.operands)
    if (!is_reshard(c)) store(spec, spec.dtype);
  return r;
}

}  // namespace plumb
