// The plan that moves the fewest bytes.
#include <algorithm>

#include "adapters/plan/report.h"
#include "adapters/plan/ways.h"

namespace plumb {
namespace {

// A plan as it grows: what is added up, what is copied, and how much each device added up.
struct Growing {
  Leg leg;
  Round adds{.add = true, .from = Side::before, .to = Side::before, .issued = -1, .sends = {}}, copies{};
  Amounts owned{};
  AxisSet summed = 0;
  std::vector<std::size_t> turns{};  // of the owners whose first is at a position
};

// Every wanter gets it from the nearest holder.
void move(const Grid& g, const Way& way, const Meeting& met, Growing& plan) {
  const std::uint32_t cell = append(plan.leg.cells, met.box);
  for (std::size_t w = 0; w < way.copiers.size(); ++w)
    plan.copies.sends.push_back({g.device(met.place.holders + met.place.nearest + way.beside[w]),
                                 g.device(met.place.wanters + way.copiers[w]), cell});
}

// It is shared out; each share is added up by its owner and then goes to all that want it.
void reduce(const Grid& g, const Way& way, const Meeting& met, Growing& plan) {
  const Concerned& place = met.place;
  const bool wants = holder_wants(g, way, place);
  const Owners& among = wants ? way.wanting : way.holding;
  const std::int64_t first = place.holders + (wants ? place.nearest : 0);
  const std::int64_t unsummed = place.holders + (wants ? place.summands : 0);
  plan.summed |= way.roles.summed;
  for (const auto& share : cut_evenly(met.box, wants ? std::ssize(among.all) : way.shares)) {
    const std::size_t o = plan.turns[first]++ % among.all.size();
    for (std::int64_t k : way.kept) {
      const std::uint32_t cell = append(plan.leg.cells, share), owner = g.device(first + k + among.all[o]);
      for (std::int64_t s : way.summed)
        if (const std::uint32_t other = g.device(unsummed + k + among.unsummed[o] + s); other != owner)
          plan.adds.sends.push_back({other, owner, cell});
      for (std::int64_t w : way.wanters)
        plan.copies.sends.push_back({owner, g.device(place.wanters + k + w), cell});
      plan.owned[owner] += elements(share);
    }
  }
}

void report_sum(const Routing& t, Growing& plan) {
  Issued issued{.kind = "reduce-scatter", .axes = {}, .pairs = {}, .sums = true};
  for (std::size_t a = 0; a < t.g.size.size(); ++a)
    if (contains(plan.summed, static_cast<AxisId>(a))) issued.axes.push_back(static_cast<AxisId>(a));
  const Amounts held = amounts(t.mesh, t.from, t.rule);
  issued.in = *std::max_element(held.begin(), held.end());
  issued.out = *std::max_element(plan.owned.begin(), plan.owned.end());
  for (const Send& send : plan.adds.sends) issued.moved += elements(plan.leg.cells, send.cell);
  plan.adds.issued = 0;
  plan.leg.issued.push_back(std::move(issued));
}

Leg report_direct(const Routing& t, Growing plan) {
  const bool sums = plan.summed != 0;
  if (!plan.adds.sends.empty()) {
    report_sum(t, plan);
    plan.leg.rounds.push_back(std::move(plan.adds));
  }
  report_copies(t.g, plan.leg, plan.copies, sums ? plan.owned : amounts(t.mesh, t.from, t.rule));
  plan.leg.rounds.push_back(std::move(plan.copies));
  return std::move(plan.leg);
}

}  // namespace

Leg direct(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  const Routing t = routing(mesh, from, to, rule);
  Growing plan;
  plan.leg.from = from;
  plan.leg.to = to;
  plan.leg.cells.rank = static_cast<int>(from.dims.size());
  plan.leg.stays = t.stays;
  if (t.stays) return std::move(plan.leg);
  plan.owned.resize(t.g.devices), plan.turns.resize(t.g.devices);
  each_choice(t, [&](const Way& way, const Meeting& met) {
    plan.leg.zeroed |= way.roles.fresh != 0;
    way.roles.summed ? reduce(t.g, way, met, plan) : move(t.g, way, met, plan);
  });
  plan.leg.zeroed |= t.ways[0].roles.fresh != 0;
  return report_direct(t, std::move(plan));
}

Volume volume(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  const Routing t = routing(mesh, from, to, rule);
  Volume sum;
  if (t.stays) return sum;
  each_choice(t, [&](const Way& way, const Meeting& met) {
    const Volume v = volume(t.g, way, met);
    sum.summed += v.summed, sum.copied += v.copied, sum.sends += v.sends;
  });
  return sum;
}

}  // namespace plumb
