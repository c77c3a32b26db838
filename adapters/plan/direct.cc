// The plan that moves the fewest bytes.
#include <algorithm>

#include "adapters/plan/cells.h"
#include "adapters/plan/meet.h"
#include "adapters/plan/plan.h"

namespace plumb {
namespace {

bool same_blocks(const Spec& from, const Spec& to, const Roles& r) {
  return r.summed == 0 && r.fresh == 0 &&
         std::equal(from.dims.begin(), from.dims.end(), to.dims.begin(),
                    [](const Dim& a, const Dim& b) { return a.axes == b.axes; });
}

Leg empty_leg(const Spec& from, const Spec& to, const Roles& r) {
  Leg leg{.from = from,
          .to = to,
          .stays = same_blocks(from, to, r),
          .zeroed = r.fresh != 0,
          .cells = {},
          .issued = {},
          .steps = {}};
  leg.cells.rank = static_cast<int>(from.dims.size());
  return leg;
}

// Every wanter of every meeting gets it from the nearest holder.
Leg move(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  const Grid g = grid(mesh);
  const Roles r = roles(from, to);
  Leg leg = empty_leg(from, to, r);
  const std::vector<std::int64_t> wanters = offsets(g, g.all & ~(r.after | r.fresh));
  std::vector<std::int64_t> beside;  // of the holder nearest to each wanter
  for (std::int64_t w : wanters) beside.push_back(along(g, w, ~r.before));
  Step copies;
  each_meeting(meetings(g, from, to, rule), [&](const std::vector<Range>& box, const Place& place) {
    const std::uint32_t cell = append(leg.cells, box);
    for (std::size_t w = 0; w < wanters.size(); ++w)
      copies.sends.push_back(
          {g.device(place.holders + place.nearest + beside[w]), g.device(place.wanters + wanters[w]), cell});
  });
  report_copies(g, leg, copies, amounts(mesh, from, rule));
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

Sum sum_of(const Grid& g, const Roles& r, const std::vector<std::vector<Overlap>>& dims) {
  Sum sum{.pinned = r.before & (r.after | r.fresh),
          .wanting = owners(g, g.all & ~(r.before | r.after | r.fresh | r.kept), r.summed),
          .holding = owners(g, g.all & ~(r.before | r.kept), r.summed),
          .kept = offsets(g, r.kept),
          .summed = offsets(g, r.summed),
          .wanters = offsets(g, g.all & ~(r.after | r.fresh | r.kept))};
  std::int64_t meetings = 1, blocks = 1;
  for (const auto& dim : dims) {
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

void report_sum(const Grid& g, Leg& leg, const Amounts& owned, Rule rule) {
  const AxisSet summed = roles(leg.from, leg.to).summed;
  Issued issued{.kind = "reduce-scatter", .axes = {}, .pairs = {}, .sums = true};
  for (std::size_t a = 0; a < g.size.size(); ++a)
    if (has(summed, static_cast<AxisId>(a))) issued.axes.push_back(static_cast<AxisId>(a));
  const Amounts held = amounts(*g.mesh, leg.from, rule);
  issued.in = *std::max_element(held.begin(), held.end());
  issued.out = *std::max_element(owned.begin(), owned.end());
  for (const Send& send : leg.steps[0].sends) issued.moved += elements(leg.cells, send.cell);
  if (issued.moved == 0) return;
  leg.steps[0].issued = 0;
  leg.issued.push_back(std::move(issued));
}

// Every meeting is shared out; each share is added up by its owner and then goes to all that want it.
Leg reduce(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  const Grid g = grid(mesh);
  const Roles r = roles(from, to);
  const auto dims = meetings(g, from, to, rule);
  const Sum sum = sum_of(g, r, dims);
  Leg leg = empty_leg(from, to, r);
  Step adds{.add = true, .from = Side::before, .to = Side::before, .issued = -1, .sends = {}}, copies;
  Amounts owned(g.devices, 0);
  std::vector<std::size_t> turns(g.devices, 0);  // of the owners whose first is at a position
  each_meeting(dims, [&](const std::vector<Range>& box, const Place& place) {
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
  report_sum(g, leg, owned, rule);
  report_copies(g, leg, copies, owned);
  leg.steps.push_back(std::move(copies));
  return leg;
}

}  // namespace

Leg direct(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  const Roles r = roles(from, to);
  if (same_blocks(from, to, r)) return empty_leg(from, to, r);
  return r.summed ? reduce(mesh, from, to, rule) : move(mesh, from, to, rule);
}

Volume volume(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  const Grid g = grid(mesh);
  const Roles r = roles(from, to);
  Volume v;
  if (same_blocks(from, to, r)) return v;
  const auto dims = meetings(g, from, to, rule);
  const Sum sum = sum_of(g, r, dims);
  const std::int64_t kept = std::ssize(sum.kept), wanters = std::ssize(sum.wanters);
  // Of the wanters of a meeting those that hold it already: all replicas of a finished one, the one
  // that added up a share of a sum.
  const std::int64_t holding = r.summed ? 1 : std::ssize(sum.wanting.all);
  each_meeting(dims, [&](const std::vector<Range>& box, const Place& place) {
    const std::int64_t n = elements(box) * kept;
    const bool wants = along(g, place.holders, sum.pinned) == along(g, place.wanters, sum.pinned);
    v.summed += n * (std::ssize(sum.summed) - 1);
    v.copied += n * (wanters - (wants ? holding : 0));
    const std::int64_t pieces = !r.summed ? 1 : wants ? std::ssize(sum.wanting.all) : sum.shares;
    v.sends += static_cast<double>(std::ssize(sum.summed) + wanters) * static_cast<double>(kept) *
               static_cast<double>(std::min(pieces, elements(box)));
  });
  return v;
}

}  // namespace plumb
