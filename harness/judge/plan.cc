#include "harness/judge/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "harness/judge/blocks.h"
#include "harness/judge/claimed.h"
#include "harness/judge/plan_moves.h"
#include "harness/judge/plan_terms.h"
#include "harness/trace/narrow.h"
#include "harness/trace/reachability.h"
#include "harness/trace/steps.h"
#include "reference/bytes/move.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// The axes over which the trace sums; nullopt where a sum is over groups that are no axes: then the plan is
// only executed.
std::optional<std::vector<AxisId>> summed(const Case& c, std::span<const Collective> trace) {
  std::vector<AxisId> axes;
  for (const Collective& step : trace) {
    if (!reduces(step)) continue;
    const auto over = fibre_axes(c.mesh, step);
    if (!over) return std::nullopt;
    std::ranges::copy(*over, std::back_inserter(axes));
  }
  return axes;
}

// What the case leaves unfinished on its way: its operands and inner specs.
std::vector<Spec> unfinished_on_the_way(const Case& c) {
  std::vector<Spec> all = c.op.operands;
  all.insert(all.end(), c.op.chain.begin(), c.op.chain.end() - 1);
  return all;
}

// Whether a reduction makes of the parts along these axes what the spec says; one that has no name may, and a
// mean over groups that are no axes does not.
bool as_due(const Spec& parts, const std::string& op, const std::vector<AxisId>& axes) {
  if (op.empty()) return true;
  if (parts.reduction != Reduce::sum) return extreme_named(op) == parts.reduction;
  const auto averaged = [&](AxisId axis) { return contains(parts.averaged, axis); };
  return names_sum(op) || (names_mean(op) && !axes.empty() && std::ranges::all_of(axes, averaged));
}

// Which type of parts the type of a reduction does not hold: that of the wire, to which they are rounded, and
// of those that it may be of; empty where it holds either.
template <class Meant>
std::string lost_by(const Case& c, const Collective& step, const std::vector<Spec>& all, Meant meant) {
  const auto dtype = dtype_named(step.dtype);
  if (!dtype || holds(*dtype, c.wire)) return "";
  const bool known = std::ranges::any_of(all, meant);
  for (const Spec& spec : all)
    if (parts(c.mesh, spec) > 1 && (!known || meant(spec)) && holds(*dtype, spec.dtype)) return "";
  return std::string(format(c.wire).name);
}

std::optional<Fact> reduces_otherwise(const Case& c, const Trace& trace) {
  for (const Collective& step : trace) {
    if (!reduces(step)) continue;
    const std::vector<AxisId> axes = fibre_axes(c.mesh, step).value_or(std::vector<AxisId>{});
    const std::string over = axes.empty() ? "its groups" : dotted(axis_names(c.mesh, axes));
    if (step.times != 1) return not_the_case(fmt::format("it sums {} times over {}", step.times, over));
    const std::vector<Spec> all = unfinished_on_the_way(c);
    const auto meant = [&](const Spec& spec) {
      return std::ranges::any_of(axes, [&](AxisId axis) { return contains(spec.unfinished, axis); });
    };
    const auto first = std::ranges::find_if(all, meant);
    if (first == all.end() && is_reshard(c) && extreme_named(step.op))
      return not_the_case(
          fmt::format("it takes the {} over {}, over which nothing is unfinished", step.op, over));
    const auto due = [&](const Spec& spec) { return meant(spec) && as_due(spec, step.op, axes); };
    const Spec& parts = first == all.end() ? all.front() : *first;
    if (const std::string narrow = lost_by(c, step, all, meant); !narrow.empty())
      return not_the_case(fmt::format("it reduces {} over {}, which does not hold the parts, of {}",
                                      step.dtype, over, narrow));
    if (first == all.end() ? !as_due(parts, step.op, axes) : std::ranges::none_of(all, due))
      return not_the_case(
          fmt::format("it takes the {} over {}, where the {} is due", step.op, over, name(parts.reduction)));
  }
  return std::nullopt;
}

// Whether blocks of the spec lie along the axis: then a sum over it may be of these, each among zeros.
bool splits(const Spec& spec, AxisId axis) {
  return std::ranges::any_of(spec.dims, [&](const Dim& dim) { return contains(dim.axes, axis); });
}

// What is wrong with the sums of a reshard: each that is to be finished is, by a collective or of parts that
// come together, once, and no other but of blocks.
std::optional<Fact> finishes(const Case& c, const Trace& trace, const std::vector<AxisId>& axes) {
  const auto name_of = [&](AxisId axis) { return c.mesh.axes[axis].name; };
  const std::vector<AxisId> joined = joined_axes(c.mesh, trace);
  for (AxisId axis : c.op.operands[0].unfinished)
    if (elements(shape(result(c))) > 0 && c.mesh.axes[axis].size > 1 &&
        !contains(result(c).unfinished, axis) && !contains(joined, axis))
      return not_the_case(fmt::format("it takes no sum over {}", name_of(axis)));
  const std::vector<Spec> all = unfinished_on_the_way(c);
  for (AxisId axis : axes)
    if (c.mesh.axes[axis].size > 1 && std::ranges::none_of(all, [&](const Spec& spec) {
          return contains(spec.unfinished, axis) || splits(spec, axis);
        }))
      return not_the_case(fmt::format("it sums over {}, over which nothing is unfinished", name_of(axis)));
  if (all.size() == 1 && twice(axes)) return not_the_case("it sums twice over one axis");
  return std::nullopt;
}

// The layout that a plan names, of the array that is asked.
NamedLayout layout_of(const std::string& text, const Case& c, const Spec& asked) {
  NamedLayout named = layout_named(text, c.mesh);
  if (!named.spec) return named;
  if (named.spec->dtype != asked.dtype || shape(*named.spec) != shape(asked))
    return {std::nullopt, "another shape or dtype than in the case"};
  if (named.spec->free) return {std::nullopt, "a layout that is left open"};
  if (const auto axis = axis_outside(c, *named.spec))
    return {std::nullopt, fmt::format("the program is not written over {}", c.mesh.axes[*axis].name)};
  return named;
}

std::optional<Layouts> layouts_of(const Case& c, const ProductPlan& plan, std::string& error) {
  Layouts at;
  const auto take = [&](const std::string& text, const Spec& asked, Spec& into) {
    const NamedLayout named = layout_of(text, c, asked);
    if (named.spec) into = *named.spec;
    error = named.error;
    return named.spec.has_value();
  };
  for (std::size_t i = 0; i < c.op.operands.size(); ++i)
    if (!take(plan.operands[i], c.op.operands[i], at.operands.emplace_back())) return std::nullopt;
  if (!take(plan.result, result(c), at.result)) return std::nullopt;
  return at;
}

std::vector<Fact> one_of(std::optional<Fact> found) {
  return found ? std::vector<Fact>{std::move(*found)} : std::vector<Fact>{};
}

// What is wrong is said of the sums, where it is these.
std::vector<Fact> reshard_facts(const Case& c, const Outcome& outcome) {
  const auto axes = summed(c, outcome.trace);
  if (auto found = reduces_otherwise(c, outcome.trace)) return {*found};
  const auto of_sums = [&] { return axes ? finishes(c, outcome.trace, *axes) : std::nullopt; };
  if (result(c).free) return one_of(of_sums());
  auto found = carries_reshard(c, outcome);
  if (!found) return {};
  const auto sums = of_sums();
  return one_of(sums ? sums : found);
}

// After how many steps the operands may be multiplied: any. What is wrong is said of the first: before the
// first sum, or where it finishes an operand, and the next does, before a later one.
std::vector<std::size_t> multiplied_after(const Case& c, const Trace& trace) {
  const auto of_operands = [&](AxisId axis) {
    return std::ranges::any_of(c.op.operands, [&](const Spec& s) { return contains(s.unfinished, axis); });
  };
  std::vector<std::size_t> all;
  bool finishing = true;
  for (std::size_t i = 0; i < trace.size() && finishing; ++i) {
    if (!reduces(trace[i])) continue;
    all.push_back(i);
    finishing = std::ranges::all_of(joined_axes(c.mesh, {&trace[i], 1}), of_operands);
  }
  for (std::size_t i = trace.size() + 1; i-- > 0;)
    if (std::ranges::count(all, i) == 0) all.push_back(i);
  return all;
}

// The sums of what was multiplied, as those of a reshard of it.
std::optional<Fact> finishes_product(const Case& c, const Einsum& e, const Outcome& outcome,
                                     const Layouts& at) {
  const auto sums = std::span(outcome.trace).subspan(at.before);
  const auto axes = summed(c, sums);
  const auto made = product_spec(c, e, at);
  if (!axes || !made) return std::nullopt;
  Case reshard = c;
  reshard.op = {Reshard{}, {*made}, {at.result}};
  return finishes(reshard, Trace(sums.begin(), sums.end()), *axes);
}

// Whether the first steps take the operands to where they meet, asked once of each number of them.
using Meets = std::function<std::optional<Fact>(std::size_t before)>;

// What is wrong with a product is said of its terms or sums, where it is these.
std::optional<Fact> product_fact(const Case& c, const Outcome& outcome, const Layouts& at,
                                 const Meets& meets) {
  const auto& e = std::get<Einsum>(c.op.kind);
  const auto axes = summed(c, std::span(outcome.trace).subspan(at.before));
  auto found = axes ? carries_product(c, outcome, at) : makes_product(c, outcome, at);
  if (!found) found = meets(at.before);
  if (!found) return found;
  if (auto of_sums = finishes_product(c, e, outcome, at)) found = of_sums;
  if (found->status != Status::wrong || !axes || !at.result.unfinished.empty()) return found;
  auto of_terms = computes(c, e, at, *axes);
  return of_terms ? of_terms : found;
}

// A product whose result is asked as its plan says that it lies.
std::vector<Fact> product_facts(const Case& c, const Outcome& outcome, Layouts at, const Meets& meets) {
  if (auto found = reduces_otherwise(c, outcome.trace)) return {*found};
  std::optional<Fact> first;
  for (const std::size_t before : multiplied_after(c, outcome.trace)) {
    at.before = before;
    const auto found = product_fact(c, outcome, at, meets);
    if (!found) return {};
    if (!first) first = found;
  }
  return one_of(first);
}

// Operands that cannot be multiplied so: that hold other pieces of one letter on some device, or of which
// only the largest of the parts is a factor.
std::optional<Fact> never_multiplied(const Case& c, const Layouts& at) {
  for (std::size_t i = 0; i < at.operands.size(); ++i)
    if (at.operands[i].reduction != Reduce::sum && parts(c.mesh, at.operands[i]) > 1)
      return not_the_case(fmt::format("operand {} is multiplied before the {} of its parts is taken", i,
                                      name(at.operands[i].reduction)));
  return contradicts(c, std::get<Einsum>(c.op.kind), at);
}

// What a result leaves unfinished after its sums is what the case leaves so.
std::optional<Fact> left_unfinished(const Case& c, const Spec& made) {
  const auto as_made = [&](AxisId axis, const Spec& spec) {
    return contains(spec.unfinished, axis) && spec.reduction == made.reduction &&
           contains(spec.averaged, axis) == contains(made.averaged, axis);
  };
  for (AxisId axis : made.unfinished)
    if (c.mesh.axes[axis].size > 1 &&
        std::ranges::none_of(c.op.chain, [&](const Spec& spec) { return as_made(axis, spec); }))
      return not_the_case(fmt::format("its result, {}, is unfinished over {} after its sums",
                                      print(c.mesh, made), c.mesh.axes[axis].name));
  return std::nullopt;
}

Outcome some_steps(const Outcome& outcome, std::size_t from, std::size_t to) {
  Outcome some;
  const auto begin = outcome.trace.begin();
  some.trace.assign(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to));
  return some;
}

bool is_wrong(const std::vector<Fact>& facts) { return !facts.empty() && facts[0].status == Status::wrong; }

// A product that goes to the layout its plan says by some first steps, and from there by the rest through the
// chain, as a reshard of its own.
std::vector<Fact> to_its_layout_and_on(const Case& c, const Outcome& outcome, const Layouts& at) {
  Case product = c, rest = c;
  product.op.chain = {at.result};
  const bool there = c.op.chain.size() > 1 && c.op.chain.front() == at.result;
  rest.op = {
      Reshard{},
      {                                     at.result},
      { c.op.chain.begin() + (there ? 1 : 0), c.op.chain.end()}
  };
  const std::size_t steps = outcome.trace.size();
  std::map<std::size_t, std::optional<Fact>> met;
  const Meets meets = [&](std::size_t before) {
    const auto [known, added] = met.try_emplace(before);
    if (added) known->second = operands_meet(c, some_steps(outcome, 0, before), at);
    return known->second;
  };
  const auto made = [&](std::size_t n) {
    return product_facts(product, some_steps(outcome, 0, n), at, meets);
  };
  const auto reached = [&](std::size_t n) { return reshard_facts(rest, some_steps(outcome, n, steps)); };
  std::vector<Fact> doubts, wrong;
  for (std::size_t n = steps + 1; n-- > 0;) {
    std::vector<Fact> after = reached(n);
    if (is_wrong(after)) continue;
    std::vector<Fact> before = made(n);
    if (before.empty() && after.empty()) return {};
    std::vector<Fact>& found = is_wrong(before) ? wrong : doubts;
    if (found.empty()) found = std::move(before.empty() ? after : before);
  }
  if (!doubts.empty()) return doubts;
  for (std::size_t n = 0; n <= steps && wrong.empty(); ++n) {
    if (is_wrong(made(n))) continue;
    wrong = reached(n);
    wrong[0].text += fmt::format(" (of its result, from {})", print(c.mesh, at.result));
  }
  return wrong.empty() ? made(steps) : wrong;
}

std::vector<Fact> facts_of(const Case& c, const Outcome& outcome) {
  if (is_reshard(c)) return reshard_facts(c, outcome);
  if (!std::holds_alternative<Einsum>(c.op.kind) || outcome.plan.operands.size() != c.op.operands.size() ||
      outcome.plan.result.empty())
    return {fact(Status::mistrusted,
                 "a plan that does not say how the operands meet: nothing could have been wrong")};
  std::string error;
  const auto at = layouts_of(c, outcome.plan, error);
  if (!at) return {fact(Status::misplaced, fmt::format("a plan that names no layout: {}", error))};
  if (auto found = never_multiplied(c, *at)) return {*found};
  if (auto found = left_unfinished(c, at->result)) return {*found};
  return to_its_layout_and_on(c, outcome, *at);
}

}  // namespace

std::vector<Fact> plan_facts(const Case& c, const Outcome& outcome) {
  Outcome named = outcome;
  named.trace = named_by_axes(c.mesh, without_idle_moves(c, std::move(named.trace)));
  std::vector<Fact> facts = facts_of(c, named);
  if (const std::string why = too_narrow(c, named.trace); facts.empty() && !why.empty())
    facts = {not_the_case("it takes " + why)};
  if (!facts.empty()) facts[0].text += idle_move(c, outcome.trace);
  if (!facts.empty() || std::ranges::none_of(named.trace, names_nobody)) return facts;
  std::erase_if(named.trace, names_nobody);
  if (facts_of(c, named).empty()) return {};
  return {fact(Status::mistrusted, "a plan that does not say between which devices its send moves")};
}

}  // namespace plumb
