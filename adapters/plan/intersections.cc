#include "adapters/plan/intersections.h"

#include <algorithm>

namespace plumb {
namespace {

struct Piece {
  Range range;
  std::int64_t index;
};

// The non-empty pieces of a dimension. They tile it in order.
std::vector<Piece> pieces(const Grid& g, const Dim& dim, Rule rule) {
  const std::int64_t count = axes_size(*g.mesh, dim.axes);
  std::vector<Piece> all;
  all.reserve(std::min(count, dim.size));
  for (std::int64_t i = 0; i < count; ++i)
    if (const Range range = piece(*g.mesh, dim, rule, i); range.size() > 0) all.push_back({range, i});
  return all;
}

}  // namespace

Roles roles(const Spec& from, const Spec& to) {
  Roles r;
  for (const Dim& dim : from.dims) r.before |= set_of(dim.axes);
  for (const Dim& dim : to.dims) r.after |= set_of(dim.axes);
  const AxisSet was = set_of(from.unfinished), is = set_of(to.unfinished);
  r.summed = was & ~is;
  r.kept = was & is;
  r.fresh = is & ~was;
  return r;
}

std::vector<Overlap> overlaps(const Grid& g, const Roles& r, const std::vector<Dim>& pair, Rule rule) {
  const auto sources = pieces(g, pair[0], rule), targets = pieces(g, pair[1], rule);
  std::vector<Overlap> all;
  for (std::size_t s = 0, t = 0; s < sources.size() && t < targets.size();) {
    const Piece &source = sources[s], &target = targets[t];
    const Range range = both(source.range, target.range);
    const auto held = [&](AxisSet set) { return at_index(g, pair[0].axes, source.index, set); };
    const auto wanted = [&](AxisSet set) { return at_index(g, pair[1].axes, target.index, set); };
    all.push_back({
        range,
        {.holders = held(g.all),
          .wanters = wanted(g.all) + held(r.fresh),
          .nearest = wanted(~r.before),
          .summands = wanted(~(r.before | r.summed))}
    });
    if (source.range.end == range.end) ++s;
    if (target.range.end == range.end) ++t;
  }
  return all;
}

std::vector<std::vector<Overlap>> meetings(const Grid& g, const Roles& r, const FromTo& ends, Rule rule) {
  std::vector<std::vector<Overlap>> dims;
  for (std::size_t d = 0; d < ends.from.dims.size(); ++d)
    dims.push_back(overlaps(g, r, {ends.from.dims[d], ends.to.dims[d]}, rule));
  return dims;
}

}  // namespace plumb
