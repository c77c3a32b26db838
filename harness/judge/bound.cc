#include "harness/judge/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/judge/in_common.h"
#include "harness/judge/summed.h"
#include "harness/trace/split.h"
#include "reference/meaning/meaning.h"

namespace plumb {
namespace {

// The case with its results in f64, to know its exact values.
Case in_f64(const Case& c) {
  Case wide = c;
  for (Spec& spec : wide.op.chain) spec.dtype = DType::f64;
  return wide;
}

Tensor exact_value(const Case& c, const std::vector<Tensor>& operands) {
  return evaluate(in_f64(c), operands);
}

Tensor exact_magnitude(const Case& c, std::vector<Tensor> operands) {
  for (Tensor& operand : operands) operand = absolute(std::move(operand));
  return exact_value(c, operands);
}

// What each coordinate along the summed axes adds; none where that is not the whole, or where they are too
// many to be worth it.
Tensor partial_sums(const Wanted& wanted) {
  constexpr std::int64_t most_parts = 64, most_elements = std::int64_t{1} << 24;
  const Case& c = wanted.c;
  const std::vector<AxisId> axes = summed_axes(c.op);
  const std::int64_t parts = axes_size(c.mesh, axes), size = elements(wanted.whole.shape);
  if (!adds_up(c) || parts > most_parts || parts * size > most_elements || parts == 1 || size == 0)
    return zeros(DType::f64, {0});
  Tensor all = zeros(DType::f64, {parts, size});
  std::vector<char> made(parts);  // devices that differ along other axes alone add the same
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    const std::int64_t p = coordinate(c.mesh, axes, device);
    if (std::exchange(made[p], 1)) continue;
    const Tensor one = exact_value(c, seen(wanted, axes, device));
    std::ranges::copy(one.bytes, all.bytes.data() + p * size * 8);
  }
  all.shape.resize(1);
  all.shape.insert(all.shape.end(), wanted.whole.shape.begin(), wanted.whole.shape.end());
  return all;
}

void note_in_common(const Wanted& wanted, Bound& bound) {
  std::vector<InCommon> all = errors_in_common(wanted, bound.reduction);
  if (all.empty()) return;
  bound.exact.common = variance_in_common(wanted, bound.reduction);
  for (InCommon& one : all) bound.exact.classes.push_back(std::move(one.classes));
}

Tensor as_f64(Tensor t) {
  t.shape.insert(t.shape.begin(), 1);
  return sum_parts(t, DType::f64);
}

// Whether it is a reshard whose parts, if there are any, are compared and not added.
bool only_compares(const Case& c) {
  const auto adds = [](const Spec& spec) {
    return spec.reduction == Reduce::sum && !spec.unfinished.empty();
  };
  return is_reshard(c) && std::ranges::none_of(c.op.operands, adds) && std::ranges::none_of(c.op.chain, adds);
}

// Whether a chain adds up copies of what is whole.
bool averages(const Case& c) {
  return std::ranges::any_of(c.op.chain,
                             [&](const Spec& spec) { return axes_size(c.mesh, spec.averaged) > 1; });
}

// Whether a reshard has no sum of more than one part: a sum of one is that part.
bool only_moves_parts(const Case& c) {
  const auto one = [&](const Spec& spec) { return parts(c.mesh, spec) == 1; };
  return is_reshard(c) && one(c.op.operands[0]) && std::ranges::all_of(c.op.chain, one);
}

DType promised(DType asked, bool unspecified, DType of_result) {
  return unspecified && format(of_result).digits < format(asked).digits ? of_result : asked;
}

}  // namespace

std::optional<Bound> bound_of(const Wanted& wanted, const Outcome& outcome, const Declared& declared) {
  const Case& c = wanted.c;
  if (!sums(c.op) || format(c.op.operands[0].dtype).integer) return std::nullopt;
  const bool extreme = c.op.operands[0].reduction != Reduce::sum;
  if (extreme && !averages(c)) return std::nullopt;  // nothing rounds
  if ((only_copied(c) || only_moves_parts(c)) && !declared.parts_rounded) return std::nullopt;
  const DType dtype = result(c).dtype;
  const DType acc = promised(c.acc, declared.acc_unspecified, dtype);
  const DType wire = promised(c.wire, declared.wire_unspecified, dtype);
  if (only_compares(c) && holds(acc, dtype) && holds(wire, dtype)) return std::nullopt;
  using Scope = Certificate::Scope;
  const Scope scope = wanted.certificate.scope;
  const bool elsewhere = another_split(c, outcome.trace);
  const bool truncates = declared.engine != Engine::ieee && !is_reshard(c);
  const bool stands = acc == c.acc && wire == c.wire && !truncates &&
                      (scope == Scope::any_split || (scope == Scope::this_split && !elsewhere));
  if (stands) return std::nullopt;
  Case promise = c;
  promise.acc = acc, promise.wire = wire;
  const auto may_add = [](const Collective& one) { return one.kind == "send"; };
  Bound bound{reduction(promise),
              {},
              elsewhere && std::ranges::any_of(outcome.trace, may_add),
              zeros(DType::f64, {0})};
  if (truncates) bound.reduction.engine = declared.engine;
  if (elsewhere) bound.reduction.parts = std::max(bound.reduction.parts, devices(c.mesh));
  if (!elsewhere) bound.reduction.order = order_said(c, outcome.trace);
  bound.exact.value = extreme ? as_f64(wanted.whole) : exact_value(c, wanted.operands);
  bound.exact.magnitude = extreme ? absolute(bound.exact.value) : exact_magnitude(c, wanted.operands);
  bound.exact.partial = bound.exact.magnitude;
  if (scope == Scope::none && !elsewhere && !extreme) bound.partials = partial_sums(wanted);
  if (scope == Scope::none) note_in_common(wanted, bound);
  return bound;
}

bool within(const Bound& bound, std::int64_t element, DType dtype, std::uint64_t bits) {
  return inside(interval(bound.reduction, bound.exact, element), decode(dtype, bits));
}

bool allows_anything(const Bound& bound, std::int64_t element) {
  return interval(bound.reduction, bound.exact, element).any;
}

// Replicas agree or are found out elsewhere: the last block that holds an element speaks for it.
Tensor pooled(const Wanted& wanted, const std::vector<Held>& blocks) {
  Tensor got = zeros(wanted.whole.dtype, wanted.whole.shape);
  const int size = format(got.dtype).bytes;
  for (const Held& block : blocks)
    if (elements(block.slice()) * size == static_cast<std::int64_t>(block.bytes.size()))
      paste(got.shape, block.slice(), block.bytes.data(), got.bytes.data(), size);
  return got;
}

Statistics pooled_statistics(const Wanted& wanted, const Bound& bound, const Tensor& got) {
  if (wanted.certificate.scope != Certificate::Scope::none) return {};
  return statistics(bound.reduction, bound.exact, got, bound.partials);
}

std::vector<Fact> pooled_facts(const Wanted& wanted, const Bound& bound, const Tensor& got) {
  std::vector<Fact> facts;
  for (const std::string& alarm : pooled_statistics(wanted, bound, got).alarms)
    facts.push_back(fact(Status::wrong, alarm));
  return facts;
}

}  // namespace plumb
