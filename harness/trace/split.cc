#include "harness/trace/split.h"

#include <algorithm>

#include "harness/trace/steps.h"
#include "reference/bytes/move.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

bool all_in(const std::vector<AxisId>& some, const std::vector<AxisId>& all) {
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

// The axes along which steps of this kind extend.
template <class Kind>
std::vector<AxisId> axes_of_steps(const Mesh& mesh, const Trace& trace, Kind kind) {
  std::vector<AxisId> axes;
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis)
    if (mesh.axes[axis].size > 1 && std::ranges::any_of(trace, [&](const Collective& step) {
          return kind(step) && extends_along(mesh, step, axis);
        }))
      axes.push_back(axis);
  return axes;
}

// The axes of two operands' dimension along which is summed.
Dim both(const Dim& left, const Dim& right, const std::vector<AxisId>& reduced) {
  Dim both{left.size, {}};
  for (const std::vector<AxisId>* axes : {&left.axes, &right.axes})
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

// The sets of axes along which may be summed: all that surely are, and any of those that may be.
std::vector<std::vector<AxisId>> may_be_summed(const std::vector<AxisId>& surely,
                                               const std::vector<AxisId>& maybe) {
  std::vector<std::vector<AxisId>> sets = {surely};
  for (AxisId axis : maybe)
    if (!contains(surely, axis))
      for (std::size_t n = sets.size(), i = 0; i < n; ++i) {
        sets.push_back(sets[i]);
        sets.back().push_back(axis);
      }
  return sets;
}

constexpr std::size_t kMostAxesTried = 10;

}  // namespace

bool another_split(const Case& c, const Trace& trace) {
  const auto adds = [](const Collective& step) { return !is_move(step.kind); };
  if (std::ranges::any_of(trace, [&](const Collective& step) { return adds(step) && names_nobody(step); }))
    return true;
  const std::vector<AxisId> reduced = axes_of_steps(c.mesh, trace, adds);
  std::vector<AxisId> summed;
  for (const Spec& operand : c.op.operands)
    summed.insert(summed.end(), operand.unfinished.begin(), operand.unfinished.end());
  if (is_reshard(c)) return !all_in(reduced, summed);
  // What the result leaves unfinished is a sum that no collective takes.
  std::vector<AxisId> surely =
      axes_of_steps(c.mesh, trace, [](const Collective& step) { return reduces(step); });
  for (const Spec& spec : c.op.chain)
    for (AxisId axis : spec.unfinished) summed.push_back(axis), surely.push_back(axis);
  if (reduced.size() > kMostAxesTried) return true;
  const std::vector<std::vector<AxisId>> sets = may_be_summed(surely, reduced);
  const std::vector<int> lhs = contracted_dims(c.op, 0), rhs = contracted_dims(c.op, 1);
  const auto cuts = contracted_cuts(c);
  for (std::size_t l = 0; l < lhs.size(); ++l) {
    const Dim &left = c.op.operands[0].dims[lhs[l]], &right = c.op.operands[1].dims[rhs[l]];
    for (const std::vector<AxisId>& set : sets)
      if (!cut_there(c, both(left, right, set), cuts[l])) return true;
    for (const Dim* dim : {&left, &right}) summed.insert(summed.end(), dim->axes.begin(), dim->axes.end());
  }
  return !all_in(reduced, summed);
}

}  // namespace plumb
