#include "harness/diagnose/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/cause.h"
#include "harness/diagnose/scale_causes.h"
#include "harness/judge/claimed.h"
#include "harness/judge/results.h"
#include "harness/judge/vacuity.h"
#include "harness/judge/values.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::int64_t differing(const Wanted& wanted, const std::vector<Held>& blocks) {
  Differences differences;
  for (const Held& block : blocks) compare(wanted, block, nullptr, differences);
  return differences.place.elements;
}

// What passed by a bound is wrong after all. The doubt whether a wrong result could be told from it is
// answered; the doubt whether any could is not.
void found_wrong(Verdict& verdict, const Wanted& wanted, std::int64_t differ, const Declared& declared) {
  std::erase_if(verdict.facts, [](const Fact& fact) { return fact.status == Status::mistrusted; });
  verdict.facts.push_back(fact(
      Status::wrong, fmt::format("{} {}", counted(differ, "element"), differ == 1 ? "differs" : "differ")));
  if (auto doubt = cannot_fail(wanted.c, std::span(&wanted.whole, 1), declared))
    verdict.facts.push_back(std::move(*doubt));
  decide(verdict);
}

}  // namespace

Verdict diagnose(const WantedAll& wanted, const Outcome& outcome, const Read& read,
                 const Declared& declared) {
  Verdict verdict = judge(wanted, outcome, read, declared);
  const bool exact = std::ranges::none_of(verdict.facts, of_values) && verdict.rounded == 0;
  if (declared.data_none || !sums(wanted.c.op) || exact) return verdict;
  const Plain p = plain(wanted.c, wanted.operands);
  const Case c = as_claimed(p.c, outcome);
  const Wanted one{c, p.operands, wanted.wholes.front(), wanted.certificate};
  const std::vector<Held> blocks = to_compare(one, outcome, masked(c, read, declared)).blocks;
  const std::int64_t differ = differing(one, blocks);
  std::vector<Explanation> why;
  if (differ > 0) why = cause(one, blocks);
  if (!why.empty() && std::ranges::none_of(verdict.facts, of_values)) {
    const std::optional<Bound> bound = bound_of(one, outcome, declared);
    if (bound && by_chance(one, *bound, pooled(one, blocks), causes_tried(c)))
      why.clear();
    else
      found_wrong(verdict, one, differ, declared);
  }
  if (!why.empty()) explain(*std::ranges::find_if(verdict.facts, of_values), std::move(why));
  if (quantizes(wanted.c.op) && verdict.status == Status::wrong && verdict.facts.front().cause.empty())
    explain(verdict.facts.front(), other_scales(wanted, outcome, read, declared));
  return verdict;
}

}  // namespace plumb
