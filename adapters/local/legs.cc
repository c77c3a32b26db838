#include "adapters/local/legs.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "adapters/local/arithmetic.h"

namespace plumb {
namespace {

constexpr int kMostDims = 32;

// Where a box lies in two dense blocks: runs of `count` elements, `outer` dimensions around them.
struct Runs {
  std::int64_t from = 0, to = 0, count = 1;
  int outer = 0;
  std::int64_t sizes[kMostDims], from_steps[kMostDims], to_steps[kMostDims];
};

// A box within two blocks: (begin, end) of each dimension.
struct Boxes {
  const std::int64_t *box, *from, *to;
  int rank;
};

Runs find_runs(const Boxes& boxes) {
  const auto [box, from, to, rank] = boxes;
  Runs r;
  std::int64_t from_step = 1, to_step = 1;
  bool dense = true;  // so far the box is all of both blocks
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t begin = box[2 * d], size = box[2 * d + 1] - begin;
    assert(from[2 * d] <= begin && begin + size <= from[2 * d + 1]);
    assert(to[2 * d] <= begin && begin + size <= to[2 * d + 1]);
    const std::int64_t from_size = from[2 * d + 1] - from[2 * d], to_size = to[2 * d + 1] - to[2 * d];
    r.from += (begin - from[2 * d]) * from_step;
    r.to += (begin - to[2 * d]) * to_step;
    if (dense) {
      r.count *= size;
    } else if (size > 1) {
      r.sizes[r.outer] = size, r.from_steps[r.outer] = from_step, r.to_steps[r.outer] = to_step;
      ++r.outer;
    }
    dense = dense && size == from_size && size == to_size;
    from_step *= from_size, to_step *= to_size;
  }
  return r;
}

template <class Run>
void each(const Runs& r, Run&& run) {
  std::int64_t at[kMostDims] = {}, from = r.from, to = r.to;
  for (int d = 0; d < r.outer;) {
    run(from, to, r.count);
    for (d = 0; d < r.outer; ++d) {
      from += r.from_steps[d], to += r.to_steps[d];
      if (++at[d] < r.sizes[d]) break;
      from -= r.from_steps[d] * r.sizes[d], to -= r.to_steps[d] * r.sizes[d], at[d] = 0;
    }
  }
  if (r.outer == 0) run(from, to, r.count);
}

// The two ends of a step's sends, and what becomes of the bytes on arrival.
struct Link {
  const Ranks* from;
  Ranks* to;
  const Cells* cells;
  int wire_bytes;
  Combine combine;
};

// The only way from one rank's memory to another's.
void send(const Link& link, const Send& s, Counter& counter) {
  const int width = format(link.from->stored).bytes;
  const Runs runs =
      find_runs({link.cells->box(s.cell), link.from->box(s.from), link.to->box(s.to), link.from->rank()});
  const std::byte* source = link.from->block(s.from);
  std::byte* target = link.to->block(s.to);
  std::int64_t sent = 0;
  each(runs, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
    link.combine.run(link.combine, target + to * width, source + from * width, count);
    sent += count;
  });
  if (s.from != s.to) counter.received += sent * link.wire_bytes;
}

void send_all(const Link& link, const std::vector<Send>& sends, Counter& counter) {
  for (const Send& s : sends) send(link, s, counter);
}

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
void neutralize(Ranks& ranks, DType wire) {
  if (ranks.spec.reduction == Reduce::sum) return;
  const DType narrow = format(wire).largest < format(ranks.stored).largest ? wire : ranks.stored;
  const std::uint64_t bits = encode(ranks.stored, decode(narrow, neutral(narrow, ranks.spec.reduction)));
  const int width = format(ranks.stored).bytes;
  for (std::int64_t device = 0; device < ranks.devices(); ++device)
    for (std::int64_t i = 0; i < ranks.elements(device); ++i)
      store(ranks.stored, ranks.block(device) + i * width, bits);
}

void saturate(Ranks& ranks, DType stored) {
  const Format& f = format(stored);
  if (!f.integer) return;
  const double most = std::ldexp(1.0, 8 * f.bytes - 1);
  for (std::int64_t device = 0; device < ranks.devices(); ++device) {
    std::vector<double> all = values_of(ranks, device);
    for (double& value : all) value = std::clamp(value, -most, most - 1);
    encode(ranks.stored, all.data(), std::ssize(all), ranks.block(device));
  }
}

}  // namespace

DType kept_as(const Plan& plan, const Spec& spec, bool last) {
  const Format &wire = format(plan.wire), &own = format(spec.dtype);
  const bool wider =
      wire.digits > own.digits && wire.min_exponent <= own.min_exponent && wire.largest >= own.largest;
  const bool sum = spec.reduction == Reduce::sum && parts(plan.mesh, spec) > 1;
  return !last && sum && wider ? plan.wire : spec.dtype;
}

Ranks walk(const Stretch& stretch, Ranks value) {
  const auto& [plan, leg, stored, counter] = stretch;
  assert(leg.cells.rank <= kMostDims);
  for (const Step& step : leg.steps) {
    if (!step.add || step.sends.empty()) continue;
    value = cast(std::move(value), plan.acc);
    send_all({&value, &value, &leg.cells, format(plan.wire).bytes, combining(plan, leg)}, step.sends,
             counter);
  }
  if (const std::int64_t n = divisor(plan, leg); n > 1) {
    value = cast(std::move(value), plan.acc);
    for (std::int64_t device = 0; device < value.devices(); ++device)
      divide(plan.acc, value.block(device), value.elements(device), n);
  }
  if (plan.saturates) saturate(value, stored);
  value = cast(std::move(value), stored);
  value.spec = leg.to;
  if (leg.stays) return value;
  Ranks next =
      allocate({&plan.mesh, plan.rule}, leg.to, stored, leg.zeroed ? Contents::zeros : Contents::poison);
  if (leg.zeroed) neutralize(next, plan.wire);
  for (const Step& step : leg.steps)
    if (!step.add)
      send_all({step.from == Side::before ? &value : &next, &next, &leg.cells, format(stored).bytes,
                copying(stored)},
               step.sends, counter);
  assert(intact(value) && intact(next));
  return next;
}

}  // namespace plumb
