// The plan that moves the fewest bytes.
#include <algorithm>

#include "adapters/plan/cells.h"
#include "adapters/plan/meet.h"
#include "adapters/plan/plan.h"

namespace plumb {
namespace {

// A reshard with all that is derived from it.
struct Task {
  const Mesh& mesh;
  const Spec &from, &to;
  Rule rule;
  Grid g;
  Roles r;
  std::vector<std::vector<Overlap>> dims;
};

Task task(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  return {mesh, from, to, rule, grid(mesh), roles(from, to), {}};
}

void take(Task& t, const Roles& r) {
  t.r = r;
  t.dims = meetings(t.g, r, {t.from, t.to}, t.rule);
}

bool same_blocks(const Task& t) {
  return t.r.summed == 0 && t.r.fresh == 0 &&
         std::equal(t.from.dims.begin(), t.from.dims.end(), t.to.dims.begin(),
                    [](const Dim& a, const Dim& b) { return a.axes == b.axes; });
}

Leg empty_leg(const Task& t) {
  Leg leg;
  leg.from = t.from;
  leg.to = t.to;
  leg.stays = same_blocks(t);
  leg.zeroed = t.r.fresh != 0;
  leg.cells.rank = static_cast<int>(t.from.dims.size());
  return leg;
}

// Every wanter of every meeting gets it from the nearest holder.
Leg move(const Task& t) {
  const Grid& g = t.g;
  Leg leg = empty_leg(t);
  const std::vector<std::int64_t> wanters = offsets(g, g.all & ~(t.r.after | t.r.fresh));
  std::vector<std::int64_t> beside;  // of the holder nearest to each wanter
  for (std::int64_t w : wanters) beside.push_back(along(g, w, ~t.r.before));
  Step copies;
  each_meeting(t.dims, [&](const std::vector<Range>& box, const Place& place) {
    const std::uint32_t cell = append(leg.cells, box);
    for (std::size_t w = 0; w < wanters.size(); ++w)
      copies.sends.push_back(
          {g.device(place.holders + place.nearest + beside[w]), g.device(place.wanters + wanters[w]), cell});
  });
  report_copies(g, leg, copies, amounts(t.mesh, t.from, t.rule));
  leg.steps.push_back(std::move(copies));
  return leg;
}

// The devices among which a meeting is shared out: as offsets, and those without the summed axes.
struct Owners {
  std::vector<std::int64_t> all, unsummed;
};

Owners owners(const Grid& g, AxisSet free, AxisSet summed) {
  Owners o{.all = offsets(g, free), .unsummed = {}};
  for (std::int64_t offset : o.all) o.unsummed.push_back(along(g, offset, ~summed));
  return o;
}

// Who adds up what is met, and who takes part. Where a device that wants it holds a part, all such
// devices share it; otherwise all that hold a part do, and the meetings of a block fall on them in turn.
struct Sum {
  AxisSet pinned = 0;  // by holders and wanters both; where they differ no device is both
  Owners wanting, holding;
  std::int64_t shares = 1;  // of a meeting among `holding`
  std::vector<std::int64_t> kept, summed, wanters;
};

Sum sum_of(const Task& t) {
  const Grid& g = t.g;
  const Roles& r = t.r;
  Sum sum{.pinned = r.before & (r.after | r.fresh),
          .wanting = owners(g, g.all & ~(r.before | r.after | r.fresh | r.kept), r.summed),
          .holding = owners(g, g.all & ~(r.before | r.kept), r.summed),
          .kept = offsets(g, r.kept),
          .summed = offsets(g, r.summed),
          .wanters = offsets(g, g.all & ~(r.after | r.fresh | r.kept))};
  std::int64_t meetings = 1, blocks = 1;
  for (const auto& dim : t.dims) {
    meetings *= std::ssize(dim);
    std::int64_t pieces = 0;
    for (std::size_t i = 0; i < dim.size(); ++i)
      pieces += i == 0 || dim[i].place.holders != dim[i - 1].place.holders;
    blocks *= std::max<std::int64_t>(pieces, 1);
  }
  const std::int64_t each = std::max<std::int64_t>(meetings / blocks, 1);
  sum.shares = (std::ssize(sum.holding.all) + each - 1) / each;
  return sum;
}

void report_sum(const Task& t, Leg& leg, const Amounts& owned) {
  Issued issued{.kind = "reduce-scatter", .axes = {}, .pairs = {}, .sums = true};
  for (std::size_t a = 0; a < t.g.size.size(); ++a)
    if (has(t.r.summed, static_cast<AxisId>(a))) issued.axes.push_back(static_cast<AxisId>(a));
  const Amounts held = amounts(t.mesh, t.from, t.rule);
  issued.in = *std::max_element(held.begin(), held.end());
  issued.out = *std::max_element(owned.begin(), owned.end());
  for (const Send& send : leg.steps[0].sends) issued.moved += elements(leg.cells, send.cell);
  if (issued.moved == 0) return;
  leg.steps[0].issued = 0;
  leg.issued.push_back(std::move(issued));
}

// Every meeting is shared out; each share is added up by its owner and then goes to all that want it.
Leg reduce(const Task& t) {
  const Grid& g = t.g;
  const Sum sum = sum_of(t);
  Leg leg = empty_leg(t);
  Step adds{.add = true, .from = Side::before, .to = Side::before, .issued = -1, .sends = {}}, copies;
  Amounts owned(g.devices, 0);
  std::vector<std::size_t> turns(g.devices, 0);  // of the owners whose first is at a position
  each_meeting(t.dims, [&](const std::vector<Range>& box, const Place& place) {
    const bool wants = along(g, place.holders, sum.pinned) == along(g, place.wanters, sum.pinned);
    const Owners& among = wants ? sum.wanting : sum.holding;
    const std::int64_t first = place.holders + (wants ? place.nearest : 0);
    const std::int64_t unsummed = place.holders + (wants ? place.summands : 0);
    for (const auto& share : shares(box, wants ? std::ssize(among.all) : sum.shares)) {
      const std::size_t o = turns[first]++ % among.all.size();
      for (std::int64_t k : sum.kept) {
        const std::uint32_t cell = append(leg.cells, share), owner = g.device(first + k + among.all[o]);
        for (std::int64_t s : sum.summed)
          if (const std::uint32_t other = g.device(unsummed + k + among.unsummed[o] + s); other != owner)
            adds.sends.push_back({other, owner, cell});
        for (std::int64_t w : sum.wanters)
          copies.sends.push_back({owner, g.device(place.wanters + k + w), cell});
        owned[owner] += elements(share);
      }
    }
  });
  leg.steps.push_back(std::move(adds));
  report_sum(t, leg, owned);
  report_copies(g, leg, copies, owned);
  leg.steps.push_back(std::move(copies));
  return leg;
}

Volume volume(const Task& t) {
  const Sum sum = sum_of(t);
  Volume v;
  const std::int64_t kept = std::ssize(sum.kept), wanters = std::ssize(sum.wanters);
  // Of the wanters of a meeting those that hold it already: all replicas of a finished one, the one
  // that added up a share of a sum.
  const std::int64_t holding = t.r.summed ? 1 : std::ssize(sum.wanting.all);
  each_meeting(t.dims, [&](const std::vector<Range>& box, const Place& place) {
    const std::int64_t n = elements(box) * kept;
    const bool wants = along(t.g, place.holders, sum.pinned) == along(t.g, place.wanters, sum.pinned);
    v.summed += n * (std::ssize(sum.summed) - 1);
    v.copied += n * (wanters - (wants ? holding : 0));
    const std::int64_t pieces = !t.r.summed ? 1 : wants ? std::ssize(sum.wanting.all) : sum.shares;
    v.sends += static_cast<double>(std::ssize(sum.summed) + wanters) * static_cast<double>(kept) *
               static_cast<double>(std::min(pieces, elements(box)));
  });
  return v;
}

// An axis that stays unfinished may keep its parts, or they may be added up on one device along it and
// stand beside zeros: fewer bytes where each part would have to move. Settles for the cheapest choice.
Volume settle(Task& t) {
  const Roles given = t.r;
  take(t, given);
  Volume least = volume(t);
  Roles best = given;
  for (AxisSet merged = given.kept; merged != 0; merged = (merged - 1) & given.kept) {
    Roles r = given;
    r.summed |= merged, r.fresh |= merged, r.kept &= ~merged;
    take(t, r);
    const Volume v = volume(t);
    if (v.summed + v.copied < least.summed + least.copied) least = v, best = r;
  }
  if (given.kept) take(t, best);
  return least;
}

}  // namespace

Leg direct(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  Task t = task(mesh, from, to, rule);
  if (same_blocks(t)) return empty_leg(t);
  if (t.r.kept)
    settle(t);
  else
    take(t, t.r);
  return t.r.summed ? reduce(t) : move(t);
}

Volume volume(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  Task t = task(mesh, from, to, rule);
  return same_blocks(t) ? Volume{} : settle(t);
}

}  // namespace plumb
