// Carries out a whole plan.
#include <cassert>
#include <cstring>
#include <span>

#include "adapters/local/legs.h"
#include "adapters/local/local.h"
#include "adapters/local/multiply.h"
#include "adapters/local/quantize.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Every device receives its block of the operand, an unfinished one's part.
Ranks load(const Plan& plan, const Spec& spec, const Operand& operand) {
  Ranks ranks = allocate({&plan.mesh, plan.rule}, spec, spec.dtype, Contents::any);
  const std::vector<std::int64_t> sizes = shape(spec);
  const int width = format(spec.dtype).bytes;
  const std::int64_t part_bytes = bytes(spec);
  for (std::int64_t device = 0; device < ranks.devices(); ++device)
    cut(sizes, ranks.slice(device), operand.bytes.data() + part(plan.mesh, spec, device) * part_bytes,
        ranks.block(device), width);
  return ranks;
}

struct Walk {
  const Plan& plan;
  Counter counter{};
  Trace trace{};
};

void report(Walk& walk, const Leg& leg, DType stored) {
  for (const Issued& issued : leg.issued) {
    const DType dtype = issued.sums ? walk.plan.wire : stored;
    const std::int64_t width = format(dtype).bytes;
    Collective c;
    c.kind = issued.kind;
    for (AxisId axis : issued.axes) c.axes.push_back(walk.plan.mesh.axes[axis].name);
    c.pairs = issued.pairs;
    c.in = issued.in * width, c.out = issued.out * width, c.moved = issued.moved * width;
    if (issued.sums) c.op = leg.from.reduction == Reduce::sum ? "add" : name(leg.from.reduction);
    c.dtype = format(dtype).name;
    walk.trace.push_back(std::move(c));
  }
}

Ranks along(Walk& w, const std::vector<Leg>& legs, Ranks value, bool last) {
  for (std::size_t i = 0; i < legs.size(); ++i) {
    const DType stored = kept_as(w.plan, legs[i].to, last && i + 1 == legs.size());
    value = walk({w.plan, legs[i], stored, w.counter}, std::move(value));
    report(w, legs[i], stored);
  }
  return value;
}

}  // namespace

Done execute(const Plan& plan, const std::vector<Operand>& operands, const Seams& seams) {
  const auto show = [&](Moment moment, Ranks& ranks) {
    if (seams.block) seams.block(moment, ranks);
  };
  Walk w{plan};
  std::vector<Ranks> values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    values.push_back(load(plan, plan.operands[i], operands[i]));
    show(Moment::loaded, values[i]);
    const std::optional<Quantizer>& q = plan.quantizers[i];
    Scales scale;
    if (q) {
      scale = scales({plan, w.counter, w.trace}, *q, values[i]);
      values[i] = to_codes(plan.mesh, *q, scale, values[i]);
    }
    values[i] = along(w, plan.inputs[i], std::move(values[i]), false);
    if (q) values[i] = from_codes(plan.mesh, *q, scale, values[i]);
    if (plan.product) show(Moment::ready, values[i]);
  }
  if (plan.product) {
    values = [&] {
      std::vector<Ranks> product;
      product.push_back(multiply(plan, values[0], values[1]));
      return product;
    }();
    show(Moment::multiplied, values[0]);
  }
  Ranks result = along(w, plan.legs, std::move(values[0]), true);
  show(Moment::result, result);
  Done done{{}, std::move(w.trace), w.counter.received};
  done.results.push_back(std::move(result));
  return done;
}

namespace {

// An array of f32, of which every device knows the whole, laid out.
template <class Whole>
Ranks laid_out(const Plan& plan, const Spec& spec, Whole&& whole) {
  Ranks ranks = allocate({&plan.mesh, plan.rule}, spec, DType::f32, Contents::poison);
  const std::vector<std::int64_t> sizes = shape(spec);
  for (std::int64_t device = 0; device < ranks.devices(); ++device) {
    const std::vector<float> values = whole(device);
    cut(sizes, ranks.slice(device), std::as_bytes(std::span(values)).data(), ranks.block(device),
        sizeof(float));
  }
  return ranks;
}

}  // namespace

Done quantize(const Plan& plan, const std::vector<Spec>& results, const std::vector<Operand>& operands,
              const Seams& seams) {
  Walk w{plan};
  const Observed observed{plan, w.counter, w.trace};
  const Quantizer& q = *plan.quantizers[0];
  Ranks x = load(plan, plan.operands[0], operands[0]);
  if (seams.block) seams.block(Moment::loaded, x);
  const bool delays = operands.size() == 3;
  float scale = 1;
  if (delays) std::memcpy(&scale, operands[2].bytes.data(), sizeof scale);
  const Scales known = delays ? given(scale) : scales(observed, q, x);
  Done done;
  done.results.push_back(along(w, plan.legs, to_codes(plan.mesh, q, known, x), true));
  if (delays) {
    const Ranks history = along(w, plan.inputs[1], load(plan, plan.operands[1], operands[1]), false);
    const std::vector<Delayed> next = delayed(observed, q, x, {history, scale});
    const auto inverse = [&](std::int64_t) { return std::vector{1 / scale}; };
    done.results.push_back(laid_out(plan, results[1], inverse));
    done.results.push_back(laid_out(plan, results[2], [&](std::int64_t d) { return next[d].history; }));
    done.results.push_back(
        laid_out(plan, results[3], [&](std::int64_t d) { return std::vector{next[d].next}; }));
  } else {
    done.results.push_back(lay_out(observed, q, known, {plan.operands[0], results[1]}));
  }
  for (Ranks& result : done.results)
    if (seams.block) seams.block(Moment::result, result);
  done.trace = std::move(w.trace);
  done.received = w.counter.received;
  return done;
}

}  // namespace plumb
