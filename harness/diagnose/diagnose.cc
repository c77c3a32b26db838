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

void try_sums(Verdict& verdict, const Wanted& wanted, const std::vector<Held>& blocks,
              const Declared& declared) {
  const std::int64_t differ = differing(wanted, blocks);
  if (differ == 0) return;
  std::vector<Explanation> why = cause(wanted, blocks);
  if (why.empty()) return;
  if (std::ranges::none_of(verdict.facts, of_values)) {
    if (by_chance(wanted, pooled(wanted, blocks), causes_tried(wanted.c))) return;
    found_wrong(verdict, wanted, differ, declared);
  }
  explain(*std::ranges::find_if(verdict.facts, of_values), std::move(why));
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
  try_sums(verdict, one, to_compare(one, outcome, masked(c, read, declared)).blocks, declared);
  if (quantizes(wanted.c.op) && verdict.status == Status::wrong && verdict.facts.front().cause.empty())
    explain(verdict.facts.front(), other_scales(wanted, outcome, read, declared));
  return verdict;
}

}  // namespace plumb
