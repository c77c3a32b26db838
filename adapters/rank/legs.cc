#include "adapters/rank/legs.h"

#include <algorithm>
#include <cassert>
#include <cmath>

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

// Zeros are neutral for a sum alone. What is sent has to pass the wire.
void neutralize(Blocks& blocks, DType wire) {
  if (blocks.spec.reduction == Reduce::sum) return;
  const DType narrow = format(wire).largest < format(blocks.stored).largest ? wire : blocks.stored;
  const std::uint64_t bits = encode(blocks.stored, decode(narrow, neutral(narrow, blocks.spec.reduction)));
  const int width = format(blocks.stored).bytes;
  for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device)
    for (std::int64_t i = 0; i < blocks.elements(device); ++i)
      store(blocks.stored, blocks.block(device) + i * width, bits);
}

void saturate(Blocks& blocks, DType stored) {
  const Format& f = format(stored);
  if (!f.integer) return;
  const double most = std::ldexp(1.0, 8 * f.bytes - 1);
  for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device) {
    std::vector<double> all = values_of(blocks, device);
    for (double& value : all) value = std::clamp(value, -most, most - 1);
    encode(blocks.stored, all.data(), std::ssize(all), blocks.block(device));
  }
}

}  // namespace

DType kept_as(const Plan& plan, const Spec& spec, bool last) {
  const bool sum = spec.reduction == Reduce::sum && parts(plan.mesh, spec) > 1;
  return !last && sum && holds(plan.wire, spec.dtype) ? plan.wire : spec.dtype;
}

Blocks walk(const Stage& stage, Blocks value, const Carry& carry) {
  const auto& [plan, leg, stored] = stage;
  assert(leg.cells.rank <= kMostDims);
  for (const Round& round : leg.rounds) {
    if (!round.add || round.sends.empty()) continue;
    value = cast(std::move(value), plan.acc);
    if (round.to == Side::before) {
      carry({&value, &value, &leg.cells, combining(plan, leg)}, leg, round);
      continue;
    }
    Blocks sums = allocate_like(value, plan.acc, Contents::zeros);
    neutralize(sums, plan.wire);
    carry({&value, &sums, &leg.cells, combining(plan, leg)}, leg, round);
    value = std::move(sums);
  }
  if (const std::int64_t n = divisor(plan, leg); n > 1) {
    value = cast(std::move(value), plan.acc);
    for (std::int64_t device = value.own.begin; device < value.own.end; ++device)
      divide(plan.acc, value.block(device), value.elements(device), n);
  }
  if (plan.saturates) saturate(value, stored);
  value = cast(std::move(value), stored);
  value.spec = leg.to;
  if (leg.stays) return value;
  Blocks next = allocate({&plan.mesh, plan.rule, value.own}, leg.to, stored,
                         leg.zeroed ? Contents::zeros : Contents::poison);
  if (leg.zeroed) neutralize(next, plan.wire);
  for (const Round& round : leg.rounds)
    if (!round.add)
      carry({round.from == Side::before ? &value : &next, &next, &leg.cells, copying(stored)}, leg, round);
  assert(intact(value) && intact(next));
  return next;
}

}  // namespace plumb
