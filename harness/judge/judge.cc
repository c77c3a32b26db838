#include "harness/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/claimed.h"
#include "harness/judge/layout.h"
#include "harness/judge/plan.h"
#include "harness/judge/replicas.h"
#include "harness/judge/vacuity.h"
#include "harness/judge/values.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// A claim that is no layout of the mesh; only a plan gets here with one.
std::optional<Fact> no_layout(const Wanted& wanted, const Outcome& outcome) {
  const std::optional<std::string> claim = claim_of(outcome);
  if (!claim) return std::nullopt;
  const NamedLayout claimed = layout_named(*claim, wanted.c.mesh);
  if (!claimed.spec)
    return fact(Status::misplaced, fmt::format("claims what is no layout: {}", claimed.error));
  if (!claimed.spec->free) return std::nullopt;
  return fact(Status::misplaced, "claims a layout that is left open");
}

// The flat index of the first wrong element.
std::int64_t first_element(const Wanted& wanted, const Fact& wrong) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < wrong.place->index.size(); ++d)
    at = at * wanted.whole.shape[d] + wrong.place->index[d];
  return at;
}

// Whether bits are equal everywhere, which needs no bound; data that round are pooled all the same.
bool all_as_wanted(const Wanted& wanted, const std::vector<Held>& blocks) {
  if (wanted.certificate.scope == Certificate::Scope::none) return false;
  Differences differences;
  return std::ranges::all_of(blocks,
                             [&](const Held& block) { return compare(wanted, block, nullptr, differences); });
}

std::vector<Fact> compared(const Wanted& wanted, const std::vector<Held>& blocks, const Bound* bound,
                           std::int64_t& rounded) {
  Differences differences;
  for (const Held& block : blocks) compare(wanted, block, bound, differences);
  rounded = differences.rounded;
  std::vector<Fact> facts = value_facts(wanted.whole.dtype, differences);
  if (!facts.empty() && bound)
    facts.front().bound =
        bound_derivation(bound->reduction, bound->exact, first_element(wanted, facts.front()));
  if (!bound) return facts;
  const Tensor got = pooled(wanted, blocks);
  std::ranges::move(pooled_facts(wanted, *bound, got), std::back_inserter(facts));
  if (facts.empty() && differences.rounded > 0)
    if (auto doubt = vacuous(wanted, *bound, differences, got)) facts.push_back(std::move(*doubt));
  return facts;
}

Fact not_before_rounding(std::int64_t n) {
  return fact(Status::wrong,
              fmt::format("{} of an unfinished sum {} the wanted number only once {} rounded",
                          counted(n, "element"), n == 1 ? "is" : "are", n == 1 ? "it is" : "they are"));
}

}  // namespace

Verdict judge(const Wanted& wanted, const Outcome& outcome, const Read& unmasked, const Declared& declared) {
  if (declared.data_none)
    if (auto none = no_layout(wanted, outcome))
      return {.status = Status::misplaced, .facts = {std::move(*none)}, .plan = true};
  if (result(wanted.c).free)
    if (const Case c = as_claimed(wanted.c, outcome); !result(c).free)
      return judge({c, wanted.operands, wanted.whole, wanted.certificate, wanted.one_of_several}, outcome,
                   unmasked, declared);
  Verdict verdict;
  verdict.alone = devices(wanted.c.mesh) == 1;
  verdict.plan = declared.data_none;
  const auto add = [&](std::vector<Fact> facts) {
    std::ranges::move(facts, std::back_inserter(verdict.facts));
  };
  add(layout_facts(wanted.c, outcome));
  if (declared.data_none) {
    if (auto doubt = said_nothing(outcome)) verdict.facts.push_back(std::move(*doubt));
    add(plan_facts(wanted.c, outcome));
  } else {
    const Read read = masked(wanted.c, unmasked, declared);
    const auto [blocks, unrounded] = to_compare(wanted, outcome, read);
    const bool identical = all_as_wanted(wanted, blocks);
    std::optional<Bound> bound;
    if (!identical || unrounded > 0) bound = bound_of(wanted, outcome, declared);
    if (!identical) add(compared(wanted, blocks, bound ? &*bound : nullptr, verdict.rounded));
    if (unrounded > 0 && std::ranges::none_of(verdict.facts, of_values)) {
      if (bound || declared.parts_rounded)
        verdict.rounded = std::max(verdict.rounded, unrounded);
      else
        add({not_before_rounding(unrounded)});
    }
    // Where every bit is the wanted one replicas agree; of a sum only its parts can.
    if ((!identical || parts(wanted.c.mesh, result(wanted.c)) > 1) && !declared.clones)
      add(replica_facts(wanted.c, outcome, read, verdict.facts.empty()));
    verdict.clones = declared.clones && has_replicas(wanted.c, outcome);
    if (!wanted.one_of_several)
      if (auto doubt = cannot_fail(wanted.c, std::span(&wanted.whole, 1), declared))
        verdict.facts.push_back(std::move(*doubt));
  }
  decide(verdict);
  return verdict;
}

}  // namespace plumb
