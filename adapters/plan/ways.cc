#include "adapters/plan/ways.h"

#include <algorithm>

namespace plumb {
namespace {

Owners owners(const Grid& g, AxisSet free, AxisSet summed) {
  Owners o{.all = offsets(g, free), .unsummed = {}};
  for (std::int64_t offset : o.all) o.unsummed.push_back(along(g, offset, ~summed));
  return o;
}

// How many meetings a block of the source has, on average.
std::int64_t meetings_of_a_block(const std::vector<std::vector<Overlap>>& dims) {
  std::int64_t meetings = 1, blocks = 1;
  for (const auto& dim : dims) {
    std::int64_t pieces = 0;
    for (std::size_t i = 0; i < dim.size(); ++i)
      pieces += i == 0 || dim[i].place.holders != dim[i - 1].place.holders;
    meetings *= std::ssize(dim), blocks *= std::max<std::int64_t>(pieces, 1);
  }
  return std::max<std::int64_t>(meetings / blocks, 1);
}

Way way(const Grid& g, const Roles& r, const FromTo& ends, Rule rule) {
  Way w{.roles = r, .dims = meetings(g, r, ends, rule), .pinned = r.before & (r.after | r.fresh)};
  if (r.summed == 0) {
    w.copiers = offsets(g, g.all & ~(r.after | r.fresh));
    for (std::int64_t offset : w.copiers) w.beside.push_back(along(g, offset, ~r.before));
  }
  w.kept = offsets(g, r.kept);
  w.summed = offsets(g, r.summed);
  w.wanters = offsets(g, g.all & ~(r.after | r.fresh | r.kept));
  w.wanting = owners(g, g.all & ~(r.before | r.after | r.fresh | r.kept), r.summed);
  if (r.summed == 0) return w;
  w.holding = owners(g, g.all & ~(r.before | r.kept), r.summed);
  const std::int64_t each = meetings_of_a_block(w.dims);
  w.shares = (std::ssize(w.holding.all) + each - 1) / each;
  return w;
}

std::int64_t total(const Volume& v) { return v.summed + v.copied; }

void choose(Routing& t) {
  std::vector<std::int64_t> least;
  for (std::size_t w = 0; w < t.ways.size(); ++w) {
    std::size_t i = 0;
    each_meeting(t.ways[w].dims, [&](const std::vector<Range>& box, const Concerned& place) {
      const std::int64_t cost = total(volume(t.g, t.ways[w], {box, place}));
      if (w == 0) {
        least.push_back(cost);
        t.choice.push_back(0);
      } else if (cost < least[i]) {
        least[i] = cost;
        t.choice[i] = static_cast<std::uint8_t>(w);
      }
      ++i;
    });
  }
}

}  // namespace

bool holder_wants(const Grid& g, const Way& way, const Concerned& place) {
  return along(g, place.holders, way.pinned) == along(g, place.wanters, way.pinned);
}

Volume volume(const Grid& g, const Way& way, const Meeting& met) {
  const std::int64_t kept = std::ssize(way.kept), wanters = std::ssize(way.wanters), size = elements(met.box);
  const bool wants = holder_wants(g, way, met.place), sums = way.roles.summed != 0;
  // Of the wanters those that hold it already: all replicas of a finished one, the one that added up a
  // share of a sum.
  const std::int64_t holding = !wants ? 0 : sums ? 1 : std::ssize(way.wanting.all);
  const std::int64_t pieces = !sums ? 1 : wants ? std::ssize(way.wanting.all) : way.shares;
  return {.summed = size * kept * (std::ssize(way.summed) - 1),
          .copied = size * kept * (wanters - holding),
          .sends = static_cast<double>(std::ssize(way.summed) + wanters) * static_cast<double>(kept) *
                   static_cast<double>(std::min(pieces, size))};
}

Routing routing(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  Routing t{mesh, from, to, rule, grid(mesh), false, {}, {}};
  const Roles given = roles(from, to);
  t.stays = given.summed == 0 && given.fresh == 0 &&
            std::equal(from.dims.begin(), from.dims.end(), to.dims.begin(),
                       [](const Dim& a, const Dim& b) { return a.axes == b.axes; });
  if (t.stays) return t;
  t.ways.push_back(way(t.g, given, {from, to}, rule));
  constexpr std::size_t most = 64;
  for (AxisSet merged = given.kept; merged != 0 && t.ways.size() < most; merged = (merged - 1) & given.kept) {
    Roles r = given;
    r.summed |= merged, r.fresh |= merged, r.kept &= ~merged;
    t.ways.push_back(way(t.g, r, {from, to}, rule));
  }
  if (t.ways.size() > 1) choose(t);
  return t;
}

}  // namespace plumb
