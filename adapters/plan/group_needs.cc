#include "adapters/plan/group_needs.h"

#include <algorithm>

namespace plumb {
namespace {

std::vector<GroupWork> works(const Plan& plan) {
  const LocalProduct& p = *plan.product;
  const Dim& t = p.lhs_spec.dims[0];
  const Dim& g = p.rhs[0] == 'g' ? p.rhs_spec.dims[0] : p.out_spec.dims[0];
  std::vector<GroupWork> all(devices(plan.mesh));
  for (std::size_t device = 0; device < all.size(); ++device) {
    const auto d = static_cast<std::int64_t>(device);
    all[device] = {piece(plan.mesh, t, plan.rule, coordinate(plan.mesh, t.axes, d)),
                   piece(plan.mesh, g, plan.rule, coordinate(plan.mesh, g.axes, d))};
  }
  return all;
}

bool meet(const Range& a, const Range& b) { return std::max(a.begin, b.begin) < std::min(a.end, b.end); }

}  // namespace

InPieces pieces(const Plan& plan, const std::string& letters) {
  const LocalProduct& p = *plan.product;
  InPieces pieces{p, letters[0] == 'g', {}, works(plan)};
  for (std::int64_t g = 0; g < std::ssize(p.rows); ++g) {
    if (pieces.weights)
      pieces.all.push_back({
          {g, g + 1},
          g
      });
    for (const Range& run : p.rows[g])
      if (!pieces.weights && run.size() > 0) pieces.all.push_back({run, g});
  }
  std::ranges::sort(pieces.all, {}, [](const Unsplit& piece) { return piece.range.begin; });
  return pieces;
}

bool concerns(const InPieces& pieces, std::uint32_t device, std::int64_t piece) {
  const GroupWork& work = pieces.works[device];
  const std::int64_t group = pieces.all[piece].group;
  if (!meet(work.groups, {group, group + 1})) return false;
  if (!pieces.weights) return true;
  return std::ranges::any_of(pieces.product.rows[group],
                             [&](const Range& run) { return meet(run, work.rows); });
}

}  // namespace plumb
