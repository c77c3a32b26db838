#include "adapters/rank/execute.h"

#include <cassert>
#include <cstring>
#include <span>

#include "adapters/rank/multiply.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Walk {
  const Plan& plan;
  const Rank& rank;
  std::int64_t received = 0;
  Trace trace{};
  void show(Moment moment, Blocks& blocks) const {
    if (rank.shown) rank.shown(moment, blocks);
  }
};

// Every device receives its block of the operand, an unfinished one's part.
Blocks load(const Holder& holder, const Spec& spec, const Operand& operand) {
  Blocks blocks = allocate(holder, spec, spec.dtype, Contents::any);
  const std::vector<std::int64_t> sizes = shape(spec);
  const int width = format(spec.dtype).bytes;
  const std::int64_t part_bytes = bytes(spec);
  for (std::int64_t device = holder.own.begin; device < holder.own.end; ++device)
    cut(sizes, blocks.slice(device), operand.bytes.data() + part(*holder.mesh, spec, device) * part_bytes,
        blocks.block(device), width);
  return blocks;
}

std::vector<std::string> names_of(const Mesh& mesh, const std::vector<AxisId>& axes) {
  std::vector<std::string> names;
  for (AxisId axis : axes) names.push_back(mesh.axes[axis].name);
  return names;
}

void report(Walk& walk, const Leg& leg, DType stored) {
  for (const Issued& issued : leg.issued) {
    const DType dtype = issued.sums ? walk.plan.wire : stored;
    const std::int64_t width = format(dtype).bytes;
    Collective c;
    c.kind = issued.kind;
    c.axes = names_of(walk.plan.mesh, issued.axes);
    c.pairs = issued.pairs;
    c.in = issued.in * width, c.out = issued.out * width, c.moved = issued.moved * width;
    if (issued.sums) c.op = leg.from.reduction == Reduce::sum ? "add" : name(leg.from.reduction);
    c.dtype = format(dtype).name;
    walk.trace.push_back(std::move(c));
  }
}

Blocks along(Walk& w, const std::vector<Leg>& legs, Blocks value, bool last) {
  for (std::size_t i = 0; i < legs.size(); ++i) {
    const DType stored = kept_as(w.plan, legs[i].to, last && i + 1 == legs.size());
    value = walk({w.plan, legs[i], stored}, std::move(value), w.rank.carry);
    report(w, legs[i], stored);
  }
  return value;
}

void report_send(Walk& w, std::int64_t moved, DType dtype, const char* note) {
  if (moved == 0) return;
  Collective c;
  c.kind = "send", c.moved = moved, c.dtype = format(dtype).name, c.note = note;
  w.received += moved;
  w.trace.push_back(std::move(c));
}

// A ring all-reduce of the magnitudes that lie on several pieces: each part goes round twice but for one
// step.
void report_reduced(Walk& w, const Quantizer& q, std::int64_t shared) {
  const Mesh& mesh = w.plan.mesh;
  const std::int64_t n = axes_size(mesh, q.axes), bytes = shared * 4;
  if (n == 1 || bytes == 0) return;
  Collective c;
  c.kind = "all-reduce";
  c.axes = names_of(mesh, q.axes);
  c.in = c.out = bytes, c.moved = devices(mesh) / n * 2 * (n - 1) * bytes;
  c.op = "max", c.dtype = "f32", c.note = "largest magnitudes";
  w.received += *c.moved;
  w.trace.push_back(std::move(c));
}

Magnitudes reduced_magnitudes(Walk& w, const Quantizer& q, const Blocks& values) {
  report_reduced(w, q, shared_tiles(w.plan.mesh, q, values.spec, w.plan.rule));
  Magnitudes m = magnitudes(w.plan.mesh, q, values);
  if (w.rank.largest) w.rank.largest(m);
  return m;
}

// The same, known to every device: those without a value that have not taken part in an all-reduce are told.
Magnitudes told_magnitudes(Walk& w, const Quantizer& q, const Blocks& values) {
  Magnitudes m = reduced_magnitudes(w, q, values);
  std::int64_t without = 0;
  const std::int64_t all = devices(w.plan.mesh);
  for (std::int64_t device = 0; device < all; ++device)
    without += elements(block(w.plan.mesh, values.spec, w.plan.rule, device)) == 0;
  if (shared_tiles(w.plan.mesh, q, values.spec, w.plan.rule) == 0 && without < all)
    report_send(w, without * 4, DType::f32, "largest magnitudes");
  return m;
}

// The scales of values, laid out as a result: what a device lacks is sent to it.
Blocks spread_scales(Walk& w, const Quantizer& q, const Scales& known, const Relayout& layout) {
  const DType dtype = layout.result.dtype;
  report_send(w, missing_scales(w.plan.mesh, q, w.plan.rule, layout) * format(dtype).bytes, dtype, "scales");
  return lay_out(w.rank.holder, known, layout.result);
}

// An array of f32, of which every device knows the whole, laid out.
template <class Whole>
Blocks laid_out(const Holder& holder, const Spec& spec, Whole&& whole) {
  Blocks blocks = allocate(holder, spec, DType::f32, Contents::poison);
  const std::vector<std::int64_t> sizes = shape(spec);
  for (std::int64_t device = holder.own.begin; device < holder.own.end; ++device) {
    const std::vector<float> values = whole(device - holder.own.begin);
    cut(sizes, blocks.slice(device), std::as_bytes(std::span(values)).data(), blocks.block(device),
        sizeof(float));
  }
  return blocks;
}

}  // namespace

Done execute(const Plan& plan, const std::vector<Operand>& operands, const Rank& rank) {
  Walk w{plan, rank};
  std::vector<Blocks> values;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    values.push_back(load(rank.holder, plan.operands[i], operands[i]));
    w.show(Moment::loaded, values[i]);
    const std::optional<Quantizer>& q = plan.quantizers[i];
    Scales scale;
    if (q) {
      scale = scales(*q, reduced_magnitudes(w, *q, values[i]));
      values[i] = to_codes(plan.mesh, *q, scale, values[i]);
    }
    values[i] = along(w, plan.inputs[i], std::move(values[i]), false);
    if (q) values[i] = from_codes(plan.mesh, *q, scale, values[i]);
    if (plan.product) w.show(Moment::ready, values[i]);
  }
  if (plan.product) {
    Blocks product = multiply(plan, values[0], values[1]);
    values.clear();
    values.push_back(std::move(product));
    w.show(Moment::multiplied, values[0]);
  }
  Blocks result = along(w, plan.legs, std::move(values[0]), true);
  w.show(Moment::result, result);
  Done done{{}, std::move(w.trace), w.received};
  done.results.push_back(std::move(result));
  return done;
}

Done quantize(const Plan& plan, const std::vector<Spec>& results, const std::vector<Operand>& operands,
              const Rank& rank) {
  Walk w{plan, rank};
  const Quantizer& q = *plan.quantizers[0];
  Blocks x = load(rank.holder, plan.operands[0], operands[0]);
  w.show(Moment::loaded, x);
  const bool delays = operands.size() == 3;
  float scale = 1;
  if (delays) std::memcpy(&scale, operands[2].bytes.data(), sizeof scale);
  const Scales known = delays ? given(scale) : scales(q, reduced_magnitudes(w, q, x));
  Done done;
  done.results.push_back(along(w, plan.legs, to_codes(plan.mesh, q, known, x), true));
  if (delays) {
    const Blocks history = along(w, plan.inputs[1], load(rank.holder, plan.operands[1], operands[1]), false);
    const std::vector<Delayed> next = delayed(plan.mesh, q, told_magnitudes(w, q, x), {history, scale});
    const auto inverse = [&](std::int64_t) { return std::vector{1 / scale}; };
    const Holder& own = rank.holder;
    done.results.push_back(laid_out(own, results[1], inverse));
    done.results.push_back(laid_out(own, results[2], [&](std::int64_t i) { return next[i].history; }));
    done.results.push_back(
        laid_out(own, results[3], [&](std::int64_t i) { return std::vector{next[i].next}; }));
  } else {
    done.results.push_back(spread_scales(w, q, known, {plan.operands[0], results[1]}));
  }
  for (Blocks& result : done.results) w.show(Moment::result, result);
  done.trace = std::move(w.trace);
  done.received = w.received;
  return done;
}

}  // namespace plumb
