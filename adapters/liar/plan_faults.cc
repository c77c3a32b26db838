#include "adapters/liar/plan_faults.h"

#include <algorithm>
#include <array>

namespace plumb::liar {
namespace {

// The first leg that adds anything up, or null.
Leg* summing(Plan& plan) {
  const auto sums = [](const Leg& leg) {
    return !leg.rounds.empty() && leg.rounds[0].add && !leg.rounds[0].sends.empty();
  };
  for (std::vector<Leg>* legs : {&plan.legs, plan.inputs.empty() ? &plan.legs : &plan.inputs[0]})
    for (Leg& leg : *legs)
      if (sums(leg)) return &leg;
  return nullptr;
}

bool splits(const Spec& spec, AxisId axis) {
  return std::any_of(spec.dims.begin(), spec.dims.end(),
                     [&](const Dim& dim) { return contains(dim.axes, axis); });
}

// An axis that the layout neither splits by nor sums over; of this size, if one is given. -1: none.
AxisId idle_axis(const Plan& plan, const Spec& spec, std::int64_t size = 0) {
  for (AxisId a = 0; a < static_cast<AxisId>(plan.mesh.axes.size()); ++a) {
    const std::int64_t n = plan.mesh.axes[a].size;
    if (n > 1 && (size == 0 || n == size) && !splits(spec, a) && !contains(spec.unfinished, a)) return a;
  }
  return -1;
}

// Adds a send, or takes the last one away, and what is reported with it.
void send_again(Leg& leg, Round& round, Send send) {
  round.sends.push_back(send);
  if (send.from != send.to && round.issued >= 0)
    leg.issued[round.issued].moved += elements(leg.cells, send.cell);
}

void unsend(Leg& leg, Round& round, std::size_t i) {
  const Send send = round.sends[i];
  round.sends.erase(round.sends.begin() + static_cast<std::ptrdiff_t>(i));
  if (send.from != send.to && round.issued >= 0)
    leg.issued[round.issued].moved -= elements(leg.cells, send.cell);
}

// The result's way through these layouts.
std::vector<Leg> by_way_of(const Plan& plan, const std::vector<Spec>& route) {
  std::vector<Leg> legs;
  for (std::size_t i = 0; i + 1 < route.size(); ++i)
    legs.push_back(direct(plan.mesh, route[i], route[i + 1], plan.rule));
  return legs;
}

void replan(Plan& plan) {
  const auto again = [&](std::vector<Leg>& legs) {
    for (Leg& leg : legs) leg = direct(plan.mesh, leg.from, leg.to, plan.rule);
  };
  for (std::vector<Leg>& legs : plan.inputs) again(legs);
  again(plan.legs);
}

}  // namespace

void leave_one_axis(Plan& plan) {
  Leg* leg = summing(plan);
  if (!leg) return;
  Spec from = leg->from;
  from.unfinished.erase(from.unfinished.begin());
  *leg = direct(plan.mesh, from, leg->to, plan.rule);
}

void sum_along_another(Plan& plan) {
  Leg* leg = summing(plan);
  if (!leg) return;
  Spec from = leg->from;
  const AxisId other = idle_axis(plan, from, plan.mesh.axes[from.unfinished[0]].size);
  if (other < 0) return;
  from.unfinished[0] = other;
  *leg = direct(plan.mesh, from, leg->to, plan.rule);
}

void sum_replicas(Plan& plan) {
  Leg* leg = summing(plan);
  if (!leg) return;
  Spec from = leg->from;
  const AxisId other = idle_axis(plan, from);
  if (other < 0) return;
  from.unfinished.push_back(other);
  *leg = direct(plan.mesh, from, leg->to, plan.rule);
}

void drop_part(Plan& plan) {
  if (Leg* leg = summing(plan)) unsend(*leg, leg->rounds[0], leg->rounds[0].sends.size() - 1);
}

void repeat_part(Plan& plan) {
  if (Leg* leg = summing(plan)) send_again(*leg, leg->rounds[0], leg->rounds[0].sends.back());
}

void average_all(Plan& plan) {
  for (Leg& leg : plan.legs)
    if (!leg.from.averaged.empty()) leg.from.averaged = leg.from.unfinished;
}

void forget_mean(Plan& plan) {
  for (Leg& leg : plan.legs) leg.from.averaged.clear();
}

void add_instead(Plan& plan) {
  for (Leg& leg : plan.legs) leg.from.reduction = Reduce::sum;
}

void take_other(Plan& plan) {
  for (Leg& leg : plan.legs)
    if (leg.from.reduction != Reduce::sum)
      leg.from.reduction = leg.from.reduction == Reduce::max ? Reduce::min : Reduce::max;
}

void keep_own_part(Plan& plan) {
  Leg* leg = summing(plan);
  while (leg && !leg->rounds[0].sends.empty()) unsend(*leg, leg->rounds[0], 0);
}

void leave_a_sum(Plan& plan) {
  for (Leg& leg : plan.legs) leg.to.reduction = Reduce::sum;
}

void narrow_acc(Plan& plan) { plan.acc = DType::bf16; }

void drop_two_digits(Plan& plan) {
  if (plan.acc == DType::f32) plan.acc_digits = 22;
}

void saturate_sums(Plan& plan) { plan.saturates = true; }

void narrow_wire(Plan& plan) { plan.wire = DType::bf16; }

void transpose_operand(Plan& plan) {
  if (!plan.product || plan.product->rhs.size() != 2) return;
  const std::vector<Dim>& dims = plan.product->rhs_spec.dims;
  if (dims[0] == dims[1]) std::reverse(plan.product->rhs.begin(), plan.product->rhs.end());
}

void shift_boundary(Plan& plan) {
  if (!plan.product || plan.product->rows.size() < 2) return;
  Range &first = plan.product->rows[0][0], &second = plan.product->rows[1][0];
  if (second.size() > 0) ++first.end, ++second.begin;
}

void group_the_tail(Plan& plan) {
  if (!plan.product || plan.product->rows.empty()) return;
  plan.product->rows.back().back().end = plan.product->lhs_spec.dims[0].size;
}

void fill_empty_group(Plan& plan) {
  if (!plan.product) return;
  auto& rows = plan.product->rows;
  for (std::size_t g = 0; g + 1 < rows.size(); ++g)
    if (rows[g].empty() || rows[g][0].size() == 0) rows[g] = rows[g + 1];
  // Nor does it know that sums of nothing need not be sent.
  std::vector<Spec> route{plan.product->out_spec};
  for (const Leg& leg : plan.legs) route.push_back(leg.to);
  plan.legs = by_way_of(plan, route);
}

void rotate_groups(Plan& plan) {
  if (!plan.product || plan.product->rows.empty()) return;
  std::rotate(plan.product->rows.begin(), plan.product->rows.begin() + 1, plan.product->rows.end());
}

void drop_copy(Plan& plan) {
  for (Leg& leg : plan.legs)
    for (Round& round : leg.rounds)
      for (std::size_t i = round.sends.size(); !round.add && i-- > 0;)
        if (round.sends[i].from != round.sends[i].to) return unsend(leg, round, i);
}

void drop_kept(Plan& plan) {
  for (Leg& leg : plan.legs) {
    leg.zeroed = true;
    for (Round& round : leg.rounds)
      if (!round.add) std::erase_if(round.sends, [](const Send& send) { return send.from == send.to; });
  }
}

void stop_short(Plan& plan) {
  if (!plan.legs.empty()) plan.legs.pop_back();
}

void swap_axes(Plan& plan) {
  if (plan.legs.empty()) return;
  Leg& last = plan.legs.back();
  Spec to = last.to;
  for (Dim& dim : to.dims) std::reverse(dim.axes.begin(), dim.axes.end());
  last = direct(plan.mesh, last.from, to, plan.rule);
}

void ignore_ids(Plan& plan) {
  plan.mesh.place.clear();
  replan(plan);
}

void other_rule(Plan& plan) {
  plan.rule = plan.rule == Rule::flat ? Rule::nested : Rule::flat;
  replan(plan);
}

void add_from_own(Plan& plan) {
  if (plan.legs.empty()) return;
  const Leg last = plan.legs.back();
  plan.legs.pop_back();
  for (Leg& leg : calls(plan.mesh, last.from, last.to, plan.rule)) {
    for (Round& round : leg.rounds) {
      if (!round.add || round.to != Side::after) continue;
      for (auto at = round.sends.begin(); at != round.sends.end();) {
        const std::uint32_t to = at->to;
        const auto end = std::find_if(at, round.sends.end(), [&](const Send& s) { return s.to != to; });
        std::rotate(at, std::find(at, end, Send{to, to, at->cell}), end);
        at = end;
      }
    }
    plan.legs.push_back(std::move(leg));
  }
}

void gather_everything(Plan& plan) {
  if (plan.legs.empty()) return;
  const Leg& last = plan.legs.back();
  Spec whole = last.from;
  for (Dim& dim : whole.dims) dim.axes.clear();
  whole.unfinished = last.to.unfinished;
  const auto legs = by_way_of(plan, {last.from, whole, last.to});
  plan.legs.pop_back();
  plan.legs.insert(plan.legs.end(), legs.begin(), legs.end());
}

void gather_operands(Plan& plan) {
  if (!plan.product) return;
  const std::array<Spec*, 2> specs = {&plan.product->lhs_spec, &plan.product->rhs_spec};
  for (std::size_t i = 0; i < 2; ++i) {
    for (Dim& dim : specs[i]->dims) dim.axes.clear();
    plan.inputs[i] = by_way_of(plan, {plan.operands[i], *specs[i]});
  }
  Spec& out = plan.product->out_spec;
  out.unfinished.clear();
  for (Dim& dim : out.dims) dim.axes.clear();
  plan.legs[0] = direct(plan.mesh, out, plan.legs[0].to, plan.rule);
}

void reduce_zeros(Plan& plan) {
  if (plan.legs.empty()) return;
  Spec parts = plan.legs.back().to;
  const AxisId axis = idle_axis(plan, parts);
  if (axis < 0) return;
  parts.unfinished.push_back(axis);
  for (const Leg& leg : by_way_of(plan, {plan.legs.back().to, parts, plan.legs.back().to}))
    plan.legs.push_back(leg);
}

void copy_twice(Plan& plan) {
  for (Leg& leg : plan.legs) {
    const std::vector<Round> rounds = leg.rounds;
    for (Round again : rounds) {
      if (again.add) continue;
      if (again.issued >= 0) {
        leg.issued.push_back(leg.issued[again.issued]);
        again.issued = static_cast<int>(std::ssize(leg.issued)) - 1;
      }
      leg.rounds.push_back(std::move(again));
    }
  }
}

}  // namespace plumb::liar
