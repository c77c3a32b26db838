#include "adapters/rank/legs.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>

#include "adapters/rank/round_call.h"

namespace plumb {
namespace {

Combine combining(const Plan& plan, const Leg& leg) {
  if (leg.from.reduction == Reduce::sum) return adding(plan.acc, plan.wire);
  return taking(leg.from.reduction, plan.acc, plan.wire);
}

// The number of parts of the means that the leg finishes.
std::int64_t divisor(const Plan& plan, const Leg& leg) {
  std::int64_t n = 1;
  for (AxisId axis : leg.from.averaged)
    if (std::ranges::count(leg.to.unfinished, axis) == 0) n *= plan.mesh.axes[axis].size;
  return n;
}

// What leaves every value as it is; zeros do so for a sum alone. What is sent has to pass the wire.
void lay_neutral(Blocks& blocks, Reduce reduction, DType wire) {
  lay(blocks, Contents::zeros);
  if (reduction == Reduce::sum) return;
  const DType narrow = format(wire).largest < format(blocks.stored).largest ? wire : blocks.stored;
  const double least = decode(narrow, neutral(narrow, reduction));
  for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device)
    put_values(blocks, device, std::vector<double>(blocks.elements(device), least));
}

void saturate(Blocks& blocks, DType stored) {
  const Format& f = format(stored);
  if (!f.integer) return;
  recast_all(blocks, blocks, 1, std::ldexp(1.0, 8 * f.bytes - 1));
}

}  // namespace

DType kept_as(const Plan& plan, const Spec& spec, bool last) {
  const bool sum = spec.reduction == Reduce::sum && parts(plan.mesh, spec) > 1;
  return !last && sum && holds(plan.wire, spec.dtype) ? plan.wire : spec.dtype;
}

namespace {

CellList cells_for(const Round& round, std::int64_t device) {
  CellList cells;
  for (const Send& s : round.sends)
    if (s.to == device) cells.push_back(s.cell);
  std::ranges::sort(cells);
  cells.erase(std::ranges::unique(cells).begin(), cells.end());
  return cells;
}

// Whether the mean that a leg finishes is one call of a library, which adds up what is averaged and nothing
// else.
bool is_one_mean(const Stage& stage, const Blocks& value) {
  const auto& [plan, leg, stored] = stage;
  const Round* sum = nullptr;
  for (const Round& round : leg.rounds) {
    if (!round.add || round.sends.empty()) continue;
    if (sum) return false;
    sum = &round;
  }
  if (!sum || value.devices() != 1) return false;
  const RoundCall call = call_of({&plan.mesh, plan.rule, value.own}, leg, *sum);
  const bool sums = call.kind == RoundCall::Kind::reduce_scatter || call.kind == RoundCall::Kind::all_reduce;
  const auto averaged = [&](AxisId axis) { return std::ranges::count(leg.from.averaged, axis) > 0; };
  return sums && std::ranges::all_of(call.axes, averaged) &&
         axes_size(plan.mesh, call.axes) == divisor(plan, leg);
}

// The sum, where a library makes it of blocks as they lie and each process wants what it gets, no more and no
// less, as it gets it: then it need not be copied to where it is wanted. Null: it is otherwise.
const Round* only_sum(const Stage& stage, const Blocks& value, std::int64_t divided_by) {
  const auto& [plan, leg, stored] = stage;
  const Round* sum = nullptr;
  CellList kept;
  const bool plain = value.devices() == 1 && !leg.stays && !leg.zeroed && !plan.saturates &&
                     divided_by == 1 && value.stored == plan.acc && plan.acc == plan.wire &&
                     plan.acc == stored;
  for (const Round& round : leg.rounds) {
    if (round.sends.empty()) continue;
    const bool local = std::ranges::all_of(round.sends, [](const Send& s) { return s.from == s.to; });
    if (!plain || (round.add ? sum != nullptr : !local || round.from != Side::before)) return nullptr;
    if (round.add) sum = &round;
    if (!round.add) std::ranges::copy(cells_for(round, value.own.begin), std::back_inserter(kept));
  }
  if (!sum) return nullptr;
  const RoundCall::Kind kind = call_of({&plan.mesh, plan.rule, value.own}, leg, *sum).kind;
  const bool summed = kind == RoundCall::Kind::reduce_scatter || kind == RoundCall::Kind::all_reduce;
  std::ranges::sort(kept);
  return summed && kept == cells_for(*sum, value.own.begin) ? sum : nullptr;
}

// A leg as it is made ready.
struct Making {
  const Walker& to;
  const Stage& stage;
  std::int64_t parts = 1;  // of the mean that a library makes

  template <class Act>
  void act(Act&& one) const {
    to.passage.acts.emplace_back(std::forward<Act>(one));
  }
  Blocks& add(Blocks blocks) const { return to.passage.blocks.emplace_back(std::move(blocks)); }
  Blocks& in(DType stored, Blocks& value) const {
    if (value.stored == stored) return value;
    Blocks& other = add(allocate_like(value, stored, Contents::poison));
    act([&value, &other] { cast(value, other); });
    return other;
  }
  void carry(const Link& link, const Round& round) const {
    Carried one = to.carry(link, stage.leg, round);
    if (one.act) act(std::move(one.act));
    if (one.packing) {
      to.passage.packed.push_back(call_in_words(one.called->said));
      to.passage.packings.push_back(std::move(one.packing));
    }
    if (one.called) to.called.push_back(std::move(*one.called));
  }
  Combine combining_parts() const {
    Combine combine = combining(stage.plan, stage.leg);
    combine.parts = parts;
    return combine;
  }
  Blocks& sum(Blocks& begun, const Round& round) const {
    const Plan& plan = stage.plan;
    Blocks& value = in(plan.acc, begun);
    const Combine combine = combining_parts();
    if (round.to == Side::before) {
      to.passage.changes |= &value == &begun;
      carry({&value, &value, &stage.leg.cells, combine}, round);
      return value;
    }
    Blocks& sums = add(allocate_like(value, plan.acc, Contents::poison));
    act([&sums, reduction = value.spec.reduction, wire = plan.wire] { lay_neutral(sums, reduction, wire); });
    carry({&value, &sums, &stage.leg.cells, combine}, round);
    return sums;
  }
  // Sums that a library makes, where they come to rest.
  Blocks& rest(Blocks& value, const Round& round) const {
    const auto& [plan, leg, stored] = stage;
    Blocks& next =
        add(allocate({&plan.mesh, plan.rule, value.own, value.hands}, leg.to, stored, Contents::poison));
    carry({&value, &next, &leg.cells, combining_parts()}, round);
    return next;
  }
  Blocks& copy(Blocks& value) const {
    const auto& [plan, leg, stored] = stage;
    Blocks& next =
        add(allocate({&plan.mesh, plan.rule, value.own, value.hands}, leg.to, stored, Contents::poison));
    if (leg.zeroed)
      act([&next, reduction = leg.to.reduction, wire = plan.wire] { lay_neutral(next, reduction, wire); });
    for (const Round& round : leg.rounds)
      if (!round.add)
        carry({round.from == Side::before ? &value : &next, &next, &leg.cells, copying(stored)}, round);
    return next;
  }
};

}  // namespace

Blocks& walk(const Walker& walker, const Stage& stage, Blocks& begun) {
  const auto& [plan, leg, stored] = stage;
  assert(leg.cells.rank <= kMostDims);
  const std::int64_t parts = divisor(plan, leg);
  const bool averaged = walker.averages && parts > 1 && is_one_mean(stage, begun);
  const std::int64_t divided_by = averaged ? 1 : parts;
  const Making making{walker, stage, averaged ? parts : 1};
  if (const Round* sum = only_sum(stage, begun, divided_by)) return making.rest(begun, *sum);
  Blocks* value = &begun;
  for (const Round& round : leg.rounds)
    if (round.add && !round.sends.empty()) value = &making.sum(*value, round);
  if (divided_by > 1) {
    value = &making.in(plan.acc, *value);
    making.act([value, divided_by] { recast_all(*value, *value, static_cast<double>(divided_by), 0); });
  }
  if (plan.saturates) making.act([value, stored] { saturate(*value, stored); });
  value = &making.in(stored, *value);
  value->spec = leg.to;
  return leg.stays ? *value : making.copy(*value);
}

}  // namespace plumb
