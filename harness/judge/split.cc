#include "harness/judge/split.h"

#include <algorithm>

#include "harness/judge/steps.h"
#include "reference/bytes/move.h"
#include "reference/fill/fill.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

using Axes = std::vector<AxisId>;

bool within(const Axes& some, const Axes& all) {
  return std::ranges::all_of(some, [&](AxisId axis) { return contains(all, axis); });
}

bool is_move(const std::string& kind) {
  for (const char* move : {"all-gather", "all-to-all", "collective-permute", "collective-broadcast"})
    if (kind == move) return true;
  return false;
}

bool extends_along(const Mesh& mesh, const Collective& step, AxisId axis) {
  const auto differs = [&](std::int64_t a, std::int64_t b) {
    return coordinate(mesh, {axis}, a) != coordinate(mesh, {axis}, b);
  };
  return std::ranges::count(step.axes, mesh.axes[axis].name) > 0 ||
         std::ranges::any_of(step.pairs, [&](const auto& p) { return differs(p.first, p.second); }) ||
         std::ranges::any_of(step.groups, [&](const auto& group) {
           return std::ranges::any_of(group, [&](std::int64_t d) { return differs(d, group[0]); });
         });
}

// The axes along which anything is added.
Axes reduced_axes(const Mesh& mesh, const Trace& trace) {
  Axes axes;
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis)
    if (mesh.axes[axis].size > 1 && std::ranges::any_of(trace, [&](const Collective& step) {
          return !is_move(step.kind) && extends_along(mesh, step, axis);
        }))
      axes.push_back(axis);
  return axes;
}

// The axes of two operands' dimension along which is summed.
Dim both(const Dim& left, const Dim& right, const Axes& reduced) {
  Dim both{left.size, {}};
  for (const Axes* axes : {&left.axes, &right.axes})
    for (AxisId axis : *axes)
      if (contains(reduced, axis) && !contains(both.axes, axis)) both.axes.push_back(axis);
  return both;
}

// Whether every piece of a dimension begins at one of the cuts.
bool cut_there(const Case& c, const Dim& dim, const std::vector<std::int64_t>& cuts) {
  for (std::int64_t i = 0; i < axes_size(c.mesh, dim.axes); ++i)
    if (std::ranges::count(cuts, piece(c.mesh, dim, c.rule, i).begin) == 0) return false;
  return true;
}

}  // namespace

bool another_split(const Case& c, const Trace& trace) {
  const auto unknown = [](const Collective& step) { return !is_move(step.kind) && names_nobody(step); };
  if (std::ranges::any_of(trace, unknown)) return true;
  Axes reduced = reduced_axes(c.mesh, trace);
  Axes summed;
  for (const Spec& operand : c.op.operands)
    summed.insert(summed.end(), operand.unfinished.begin(), operand.unfinished.end());
  if (is_reshard(c)) return !within(reduced, summed);
  // What the result leaves unfinished is a sum that no collective takes.
  for (const Spec& spec : c.op.chain)
    for (AxisId axis : spec.unfinished) {
      summed.push_back(axis);
      if (!contains(reduced, axis)) reduced.push_back(axis);
    }
  const std::vector<int> lhs = contracted_dims(c.op, 0), rhs = contracted_dims(c.op, 1);
  const auto cuts = contracted_cuts(c);
  for (std::size_t l = 0; l < lhs.size(); ++l) {
    const Dim &left = c.op.operands[0].dims[lhs[l]], &right = c.op.operands[1].dims[rhs[l]];
    const Dim summed_along = both(left, right, reduced);
    if (!cut_there(c, summed_along, cuts[l])) return true;
    for (const Dim* dim : {&left, &right}) summed.insert(summed.end(), dim->axes.begin(), dim->axes.end());
  }
  return !within(reduced, summed);
}

}  // namespace plumb
