// Carries out a whole plan.
#include <cassert>

#include "adapters/local/legs.h"
#include "adapters/local/local.h"
#include "adapters/local/multiply.h"
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
    value = walk(w.plan, legs[i], std::move(value), stored, w.counter);
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
    values[i] = along(w, plan.inputs[i], std::move(values[i]), false);
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
  return {std::move(result), std::move(w.trace), w.counter.received};
}

}  // namespace plumb
