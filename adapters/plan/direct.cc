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

// The devices among which one meeting of a sum is shared out, and those that take part, as offsets.
struct Sum {
  std::vector<std::int64_t> owners, owners_unsummed;  // an owner, and it without the summed axes
  std::vector<std::int64_t> kept, summed, wanters;
};

Sum sum_of(const Grid& g, const Roles& r) {
  Sum sum{.owners = offsets(g, g.all & ~(r.before | r.after | r.fresh | r.kept)),
          .owners_unsummed = {},
          .kept = offsets(g, r.kept),
          .summed = offsets(g, r.summed),
          .wanters = offsets(g, g.all & ~(r.after | r.fresh | r.kept))};
  for (std::int64_t o : sum.owners) sum.owners_unsummed.push_back(along(g, o, ~r.summed));
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

// Every meeting is shared out among devices that hold a part of it, wanters where there are such; each
// share is added up by its owner and then goes to all that want it.
Leg reduce(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  const Grid g = grid(mesh);
  const Roles r = roles(from, to);
  Leg leg = empty_leg(from, to, r);
  const Sum sum = sum_of(g, r);
  Step adds{.add = true, .from = Side::before, .to = Side::before, .issued = -1, .sends = {}}, copies;
  Amounts owned(g.devices, 0);
  std::size_t turn = 0;  // so that the rest of an uneven division falls on each in turn
  const auto share_out = [&](const std::vector<Range>& share, const Place& place) {
    const std::size_t o = turn++ % sum.owners.size();
    for (std::int64_t k : sum.kept) {
      const std::uint32_t cell = append(leg.cells, share);
      const std::uint32_t owner = g.device(place.holders + place.nearest + k + sum.owners[o]);
      const std::int64_t base = place.holders + place.summands + k + sum.owners_unsummed[o];
      for (std::int64_t s : sum.summed)
        if (const std::uint32_t other = g.device(base + s); other != owner)
          adds.sends.push_back({other, owner, cell});
      for (std::int64_t w : sum.wanters)
        copies.sends.push_back({owner, g.device(place.wanters + k + w), cell});
      owned[owner] += elements(share);
    }
  };
  each_meeting(meetings(g, from, to, rule), [&](const std::vector<Range>& box, const Place& place) {
    const auto all = shares(box, static_cast<std::int64_t>(sum.owners.size()));
    if (all.size() == sum.owners.size()) turn = 0;
    for (const auto& share : all) share_out(share, place);
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
  const auto many = [&](AxisSet set) { return static_cast<std::int64_t>(offsets(g, g.all & set).size()); };
  const std::int64_t kept = r.summed ? many(r.kept) : 1;
  const std::int64_t wanters = many(~(r.after | r.fresh)) / kept, parts = many(r.summed);
  const AxisSet pinned = r.before & (r.after | r.fresh);
  const std::int64_t holding = r.summed ? 1 : many(~(r.before | r.after | r.fresh));
  const double pieces = r.summed ? static_cast<double>(many(~(r.before | r.after | r.fresh | r.kept))) : 1;
  each_meeting(meetings(g, from, to, rule), [&](const std::vector<Range>& box, const Place& place) {
    const std::int64_t n = elements(box) * kept;
    const bool holds = along(g, place.holders, pinned) == along(g, place.wanters, pinned);
    v.summed += n * (parts - 1);
    v.copied += n * (wanters - (holds ? holding : 0));
    v.sends +=
        static_cast<double>(parts + wanters) * std::min(pieces, static_cast<double>(elements(box))) * kept;
  });
  return v;
}

}  // namespace plumb
