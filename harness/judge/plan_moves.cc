#include "harness/judge/plan_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/trace/cost.h"
#include "harness/trace/executed.h"
#include "harness/trace/multiplied.h"
#include "harness/trace/reachability.h"
#include "harness/trace/steps.h"
#include "harness/trace/traffic.h"
#include "harness/trace/untrue.h"
#include "reference/bytes/bytes.h"
#include "reference/words/letters.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Steps = std::span<const Collective>;

// The case's reshard from one layout to another.
Case between(const Case& c, const Spec& from, const Spec& to) {
  Case reshard = c;
  reshard.op = {Reshard{}, {from}, {to}};
  return reshard;
}

std::int64_t fewest(const Case& reshard) {
  const std::vector<std::int64_t> each = fewest_bytes(reshard);
  return std::accumulate(each.begin(), each.end(), std::int64_t{0});
}

// Less moved than the layouts need: then it is no plan; nor can it be judged where nobody knows what moved.
std::optional<Fact> moves_too_little(const Case& c, const Outcome& outcome, std::int64_t need) {
  const std::int64_t said = moved(c.mesh, outcome.trace);
  if (need == 0 || said >= need) return std::nullopt;
  if (said < 0) return fact(Status::mistrusted, "a plan that does not say how many bytes it moves");
  return not_the_case(fmt::format("it moves {} bytes, its layouts need {}", said, need));
}

// What it takes that the operands of a product meet as the plan says.
std::int64_t needed_to_meet(const Case& c, const Layouts& at) {
  std::int64_t need = 0;
  for (std::size_t i = 0; i < at.operands.size(); ++i)
    need += fewest(between(c, c.op.operands[i], at.operands[i]));
  return need;
}

// What is summed before the operands have met is another sum.
std::optional<Fact> sums_too_early(const Case& c, const Outcome& outcome, const Layouts& at) {
  if (at.before == outcome.trace.size()) return std::nullopt;
  const Steps before = Steps(outcome.trace).first(at.before);
  const std::int64_t need = needed_to_meet(c, at), said = moved(c.mesh, {before.begin(), before.end()});
  if (said < 0 || said >= need) return std::nullopt;
  return not_the_case(
      fmt::format("it moves {} bytes before its first sum, its operands need {}", said, need));
}

std::optional<Fact> one_device_receives_too_little(const Case& reshard,
                                                   const std::vector<std::int64_t>& fewest_of_each,
                                                   Steps steps) {
  const std::string less = received_too_little(reshard, fewest_of_each, {steps.begin(), steps.end()});
  if (!less.empty()) return not_the_case(less);
  return std::nullopt;
}

std::optional<Fact> one_device_lacks(const Case& reshard, Steps steps) {
  const Mesh& mesh = reshard.mesh;
  if (const auto found = lack({mesh, reshard.op.operands[0], result(reshard), reshard.rule}, steps))
    return not_the_case(lack_in_words(mesh, *found));
  return one_device_receives_too_little(reshard, fewest_bytes(reshard), steps);
}

bool is_of_nothing(const Beginning& made) { return disjoint(made.atoms, made.atoms); }

// The fewest bytes that each device must receive of what was multiplied, where some made nothing: who made
// all terms of an element receives nothing for it.
std::vector<std::int64_t> fewest_beside_nothing(const Case& reshard, const Execution& made) {
  std::vector<std::int64_t> each(made.from.size());
  if (parts(reshard.mesh, result(reshard)) > 1) return each;
  Atoms all = made.from[0].atoms;
  for (const Beginning& one : made.from) all = united(all, one.atoms);
  for (std::size_t d = 0; d < each.size(); ++d) {
    const Slice due = block(reshard.mesh, result(reshard), reshard.rule, static_cast<std::int64_t>(d));
    std::int64_t own = made.from[d].atoms == all;
    for (std::size_t i = 0; i < due.size(); ++i) own *= both(due[i], made.from[d].slice[i]).size();
    each[d] = (elements(due) - own) * least_bytes(reshard);
  }
  return each;
}

// The values of a sum that collective `i` finishes and that can come to one device after it: of an
// all-reduce a group has `in` bytes of sums together, of a reduce-scatter a device `out`.
__int128 carried_to_one(const Case& c, Steps steps, std::size_t i) {
  const Spec& to = result(c);
  const Collective& sum = steps[i];
  std::vector<AxisId> joined = joined_axes(c.mesh, steps.subspan(i + 1));
  for (AxisId axis : to.unfinished)
    if (!contains(joined, axis)) joined.push_back(axis);
  if (sum.kind == "all-reduce")
    std::erase_if(joined, [&](AxisId axis) { return contains(axes_of(c.mesh, sum), axis); });
  const __int128 bytes = __int128{sum.kind == "all-reduce" ? sum.in : sum.out} * axes_size(c.mesh, joined);
  return bytes / std::min(format(c.wire).bytes, format(to.dtype).bytes);
}

// A sum, pieces together, that carries less than a block that is made of it.
std::optional<Fact> sums_too_little(const Case& reshard, Steps as_they_stand) {
  const Mesh& mesh = reshard.mesh;
  std::int64_t most = 0, device = 0;
  for (std::int64_t d = 0; d < devices(mesh); ++d)
    if (const std::int64_t n = elements(block(mesh, result(reshard), reshard.rule, d)); n > most)
      most = n, device = d;
  const std::optional<Trace> whole = without_pieces(reshard, as_they_stand);
  const Steps steps = whole ? Steps(*whole) : as_they_stand;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!reduces(steps[i]) || axes_size(mesh, axes_of(mesh, steps[i])) < 2) continue;
    const __int128 carried = carried_to_one(reshard, steps, i);
    if (carried < most)
      return not_the_case(fmt::format(
          "its {} over {} makes at most {} of the {} elements that device {} holds", steps[i].kind,
          dotted(steps[i].axes), static_cast<std::int64_t>(carried), most, device));
  }
  return std::nullopt;
}

std::optional<Fact> impossible_step(const Case& c, const Trace& trace) {
  const std::string why = misfit(c.mesh, trace);
  if (why.empty()) return std::nullopt;
  return not_the_case(why);
}

const char* const too_much_to_execute = "a plan of too many devices and blocks to execute";

// What execution says, as a fact.
std::optional<Fact> said(const std::optional<std::string>& not_made) {
  if (!not_made) return fact(Status::mistrusted, too_much_to_execute);
  if (not_made->empty()) return std::nullopt;
  return not_the_case(*not_made);
}

// Executes the steps from a spec of the chain to its end, by way of any of those between: a program may take
// two at once.
std::optional<std::string> chain_not_made(const Case& c, std::size_t at, Steps steps) {
  const Spec& from = at == 0 ? c.op.operands[0] : c.op.chain[at - 1];
  const std::size_t last = c.op.chain.size();
  std::optional<std::string> why = lacks(transit(c, from, c.op.chain[last - 1]), steps);
  for (std::size_t next = at + 1; next < last && why && !why->empty(); ++next)
    for (std::size_t n = 0; n <= steps.size() && why && !why->empty(); ++n) {
      const auto there = lacks(transit(c, from, c.op.chain[next - 1]), steps.first(n));
      if (!there) return std::nullopt;
      if (there->empty() && chain_not_made(c, next, steps.subspan(n)) == "") return "";
    }
  return why;
}

// Zeros, wherever they are made.
bool adds_nothing(const Case& c) {
  const Spec& lhs = c.op.operands[0];
  return std::ranges::any_of(contracted_dims(c.op, 0), [&](int d) { return lhs.dims[d].size == 0; });
}

}  // namespace

Fact not_the_case(const std::string& why) {
  return fact(Status::wrong, "a plan that does not compute the case: " + why);
}

std::optional<Fact> carries_reshard(const Case& c, const Outcome& outcome) {
  if (auto found = moves_too_little(c, outcome, fewest(c))) return found;
  if (auto found = one_device_lacks(c, outcome.trace)) return found;
  if (c.op.chain.size() == 1)  // else a sum on the way may be of other blocks
    if (auto found = sums_too_little(c, outcome.trace)) return found;
  if (auto found = impossible_step(c, outcome.trace)) return found;
  if (auto found = said(chain_not_made(c, 0, outcome.trace))) return found;
  return said(brings_too_little(c, outcome.trace));
}

std::optional<Fact> carries_product(const Case& c, const Outcome& outcome, const Layouts& at) {
  const std::optional<Spec> made = product_spec(c, std::get<Einsum>(c.op.kind), at);
  if (!made) return makes_product(c, outcome, at);
  if (auto found = sums_too_early(c, outcome, at)) return found;
  const Case from_there = between(c, *made, result(c));
  const Execution terms = multiplied(c, std::get<Einsum>(c.op.kind), at);
  const bool beside_nothing = std::ranges::any_of(terms.from, is_of_nothing);
  const auto due = beside_nothing ? fewest_beside_nothing(from_there, terms) : fewest_bytes(from_there);
  const std::int64_t needed = std::accumulate(due.begin(), due.end(), needed_to_meet(c, at));
  if (auto found = moves_too_little(c, outcome, needed)) return found;
  const Steps all = outcome.trace, before = all.first(at.before), after = all.subspan(at.before);
  for (std::size_t i = 0; i < at.operands.size(); ++i)
    if (auto found = one_device_lacks(between(c, c.op.operands[i], at.operands[i]), before)) {
      found->text += fmt::format(" (of operand {}, before it is multiplied)", i);
      return found;
    }
  if (auto found = beside_nothing ? one_device_receives_too_little(from_there, due, after)
                                  : one_device_lacks(from_there, after))
    return found;
  if (auto found = sums_too_little(from_there, after)) return found;
  if (auto found = impossible_step(c, outcome.trace)) return found;
  return makes_product(c, outcome, at);
}

std::optional<Fact> makes_product(const Case& c, const Outcome& outcome, const Layouts& at) {
  if (adds_nothing(c)) return std::nullopt;
  return said(product_not_made(c, at, Steps(outcome.trace).subspan(at.before)));
}

std::optional<Fact> operands_meet(const Case& c, const Outcome& outcome, const Layouts& at) {
  if (adds_nothing(c)) return std::nullopt;
  return said(operands_not_met(c, at, outcome.trace));
}

}  // namespace plumb
