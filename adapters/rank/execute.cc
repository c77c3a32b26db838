#include "adapters/rank/execute.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "adapters/rank/multiply.h"
#include "adapters/rank/round_call.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// What a plan issues in a leg.
Trace planned(const Plan& plan, const Leg& leg, DType stored) {
  Trace trace;
  for (const Issued& issued : leg.issued) {
    const DType dtype = issued.sums ? plan.wire : stored;
    const std::int64_t width = format(dtype).bytes;
    Collective c;
    c.kind = issued.kind;
    c.axes = axis_names(plan.mesh, issued.axes);
    c.pairs = issued.pairs;
    c.in = issued.in * width, c.out = issued.out * width, c.moved = issued.moved * width;
    if (issued.sums) c.op = reduction_taken(leg);
    c.dtype = format(dtype).name;
    trace.push_back(std::move(c));
  }
  return trace;
}

bool moves(const std::vector<Leg>& legs) {
  return std::ranges::any_of(legs, [](const Leg& leg) { return !leg.stays; });
}

struct Maker {
  const Plan& plan;
  const Rank& rank;
  Ready& ready;

  template <class Act>
  void act(Act&& one) const {
    ready.passage.acts.emplace_back(std::forward<Act>(one));
  }
  Blocks& add(Blocks blocks) const { return ready.passage.blocks.emplace_back(std::move(blocks)); }
  Blocks& add(const Spec& spec, DType stored, Contents contents) const {
    return add(allocate(rank.holder, spec, stored, contents));
  }
  void show(Moment moment, Blocks& blocks) const {
    if (rank.shown) act([shown = rank.shown, moment, &blocks] { shown(moment, blocks); });
  }
  bool alone() const { return !rank.largest; }

  Blocks& operand(std::size_t i) const {
    const Spec& spec = plan.operands[i];
    Blocks& blocks = add(spec, spec.dtype, Contents::any);
    ready.operands.push_back(&blocks);
    ready.given.push_back(spec);
    return blocks;
  }
  Blocks& along(const std::vector<Leg>& legs, Blocks& begun, bool last) const {
    Blocks* value = &begun;
    for (std::size_t i = 0; i < legs.size(); ++i) {
      const DType stored = kept_as(plan, legs[i].to, last && i + 1 == legs.size());
      std::vector<Called> called;
      value = &walk({ready.passage, rank.carry, called, rank.averages}, {plan, legs[i], stored}, *value);
      for (Called& one : called) report(std::move(one));
      if (alone())
        for (Collective& c : planned(plan, legs[i], stored)) ready.trace.push_back(std::move(c));
    }
    return *value;
  }
  void report(Called called) const {
    ready.trace.push_back(std::move(called.said));
    ready.amounts.push_back(std::move(called.each));
  }
  void report_send(std::int64_t moved, DType dtype, const char* note) const {
    if (moved == 0) return;
    Collective c;
    c.kind = "send", c.moved = moved, c.dtype = format(dtype).name, c.note = note;
    ready.received += moved;
    ready.trace.push_back(std::move(c));
  }
  // An all-reduce of the magnitudes of so many tiles. By rings each part goes round twice but for one step; a
  // library has its own way.
  Collective report_reduced(const Quantizer& q, std::int64_t tiles) const {
    const std::int64_t n = axes_size(plan.mesh, q.axes);
    Collective c;
    c.kind = "all-reduce";
    c.axes = axis_names(plan.mesh, q.axes);
    c.in = c.out = tiles * 4;
    c.op = "max", c.dtype = "f32", c.note = "largest magnitudes";
    if (alone()) ready.received += *(c.moved = devices(plan.mesh) / n * 2 * (n - 1) * c.in);
    report({c, std::vector<Amount>(devices(plan.mesh), {c.in, c.out})});
    return c;
  }
  // One process tells its devices of tiles that they share; several reduce all, where they share some or one
  // needs those of another (`missing`).
  void reduce_magnitudes(const Quantizer& q, const Blocks& values, Learned& learned, bool missing) const {
    const std::int64_t shared = shared_tiles(plan.mesh, q, values.spec, plan.rule);
    const bool several = axes_size(plan.mesh, q.axes) > 1;
    std::function<void(Magnitudes&)> reduce;
    if (alone() && several && shared > 0) report_reduced(q, shared);
    if (!alone() && several && (shared > 0 || missing))
      reduce = rank.largest(report_reduced(q, size(q.tiles)), q.axes);
    act([&mesh = plan.mesh, &q, &values, &learned, reduce] {
      learned.magnitudes = magnitudes(mesh, q, values);
      if (reduce) reduce(learned.magnitudes);
    });
  }
  // What is told those devices that have no value, where no all-reduce tells them.
  std::int64_t without_value(const Quantizer& q, const Spec& spec) const {
    std::int64_t without = 0;
    const std::int64_t all = devices(plan.mesh);
    for (std::int64_t device = 0; device < all; ++device)
      without += elements(block(plan.mesh, spec, plan.rule, device)) == 0;
    return shared_tiles(plan.mesh, q, spec, plan.rule) == 0 && without < all ? without * 4 : 0;
  }
  Blocks& coded(const Quantizer& q, const Learned& learned, const Blocks& values) const {
    Blocks& codes = add(allocate_like(values, codes_of(q.scheme), Contents::any));
    codes.spec.dtype = codes.stored;
    act([&mesh = plan.mesh, &q, &learned, &values, &codes] {
      to_codes(mesh, q, learned.scales, values, codes);
    });
    return codes;
  }
  Blocks& quantized(std::size_t i, Blocks& values) const {
    const Quantizer& q = *plan.quantizers[i];
    Learned& learned = ready.learned.emplace_back();
    reduce_magnitudes(q, values, learned, moves(plan.inputs[i]));
    act([&q, &learned] { learned.scales = scales(q, learned.magnitudes); });
    Blocks& codes = along(plan.inputs[i], coded(q, learned, values), false);
    Blocks& decoded = add(allocate_like(codes, DType::f32, Contents::any));
    act([&mesh = plan.mesh, &q, &learned, &codes, &decoded] {
      from_codes(mesh, q, learned.scales, codes, decoded);
    });
    return decoded;
  }
  Blocks& product(const Blocks& lhs, const Blocks& rhs) const {
    Blocks& out = add(plan.product->out_spec, plan.acc, Contents::poison);
    const Multiply by = rank.multiply ? rank.multiply : multiply;
    act([&plan = plan, &lhs, &rhs, &out, by] { by(plan, lhs, rhs, out); });
    show(Moment::multiplied, out);
    return out;
  }
  void result(Blocks& blocks) const {
    show(Moment::result, blocks);
    ready.results.push_back(&blocks);
  }
};

// Scales of values, laid out as a result.
void make_scales(const Maker& m, const Spec& spec, const Learned& learned) {
  Blocks& laid = m.add(spec, spec.dtype, Contents::poison);
  m.act([&mesh = m.plan.mesh, &learned, &laid] { lay_out(mesh, learned.scales, laid); });
  m.result(laid);
}

// An array of f32, of which every device knows the whole once it is known, laid out.
template <class Whole>
void make_known(const Maker& m, const Spec& spec, Whole&& whole) {
  Blocks& blocks = m.add(spec, DType::f32, Contents::poison);
  m.act([&blocks, whole] {
    const std::vector<std::int64_t> sizes = shape(blocks.spec);
    for (std::int64_t device = blocks.own.begin; device < blocks.own.end; ++device) {
      const std::vector<float> values = whole(device - blocks.own.begin);
      std::vector<std::byte> mine(blocks.elements(device) * sizeof(float));
      cut(sizes, blocks.slice(device), std::as_bytes(std::span(values)).data(), mine.data(), sizeof(float));
      blocks.hands->memory.put(blocks.block(device), mine.data(), mine.size());
    }
  });
  m.result(blocks);
}

float number_in(const Blocks& scalar) { return static_cast<float>(values_of(scalar, scalar.own.begin)[0]); }

// The scales come of the values, and what a device lacks of them is sent to it.
void quantize(const Maker& m, const std::vector<Spec>& results, const Blocks& x) {
  const Plan& plan = m.plan;
  const Quantizer& q = *plan.quantizers[0];
  Learned& learned = m.ready.learned.emplace_back();
  const Relayout layout{plan.operands[0], results[1]};
  const std::int64_t missing = missing_scales(plan.mesh, q, plan.rule, layout);
  m.reduce_magnitudes(q, x, learned, missing > 0);
  m.act([&q, &learned] { learned.scales = scales(q, learned.magnitudes); });
  m.result(m.along(plan.legs, m.coded(q, learned, x), true));
  const DType dtype = results[1].dtype;
  if (m.alone()) m.report_send(missing * format(dtype).bytes, dtype, "scales");
  make_scales(m, results[1], learned);
}

// The scale is given, and the history with the largest magnitude of now gives the next.
void quantize_delayed(const Maker& m, const std::vector<Spec>& results, const Blocks& x) {
  const Plan& plan = m.plan;
  const Quantizer& q = *plan.quantizers[0];
  Learned& learned = m.ready.learned.emplace_back();
  Blocks& before = m.operand(1);
  const Blocks& scale = m.operand(2);
  m.act([&learned, &scale] { learned.scales = given(number_in(scale)); });
  m.result(m.along(plan.legs, m.coded(q, learned, x), true));
  const Blocks& history = m.along(plan.inputs[1], before, false);
  const std::int64_t without = m.without_value(q, plan.operands[0]);
  m.reduce_magnitudes(q, x, learned, without > 0);
  if (m.alone()) m.report_send(without, DType::f32, "largest magnitudes");
  m.act([&mesh = plan.mesh, &q, &learned, &history, &scale] {
    learned.next = delayed(mesh, q, learned.magnitudes, {history, number_in(scale)});
  });
  make_known(m, results[1], [&scale](std::int64_t) { return std::vector{1 / number_in(scale)}; });
  make_known(m, results[2], [&learned](std::int64_t i) { return learned.next[i].history; });
  make_known(m, results[3], [&learned](std::int64_t i) { return std::vector{learned.next[i].next}; });
}

// A reshard or a product, whose operands may be quantized first.
void evaluate(const Maker& m) {
  std::vector<Blocks*> values;
  for (std::size_t i = 0; i < m.plan.operands.size(); ++i) {
    Blocks& loaded = m.operand(i);
    m.show(Moment::loaded, loaded);
    values.push_back(m.plan.quantizers[i] ? &m.quantized(i, loaded)
                                          : &m.along(m.plan.inputs[i], loaded, false));
    if (m.plan.product) m.show(Moment::ready, *values.back());
  }
  Blocks& begun = m.plan.product ? m.product(*values[0], *values[1]) : *values[0];
  m.result(m.along(m.plan.legs, begun, true));
}

}  // namespace

Ready make_ready(const Case& c, const Plan& plan, const Rank& rank) {
  Ready ready;
  const Maker m{plan, rank, ready};
  if (!is_quantize(c)) {
    evaluate(m);
    return ready;
  }
  Blocks& x = m.operand(0);
  m.show(Moment::loaded, x);
  (c.op.operands.size() == 3 ? quantize_delayed : quantize)(m, c.op.chain, x);
  return ready;
}

void load_operands(const Ready& ready, const Holder& holder, const Write& write) {
  for (std::size_t i = 0; i < ready.operands.size(); ++i)
    for (std::int64_t device = holder.own.begin; device < holder.own.end; ++device) {
      Blocks& blocks = *ready.operands[i];
      write(i, part(*holder.mesh, ready.given[i], device), blocks.slice(device), blocks.block(device));
    }
}

double carry_out(const Ready& ready) {
  const auto start = std::chrono::steady_clock::now();
  for (const auto& act : ready.passage.acts) act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace plumb
