#include "harness/judge/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/vacuity.h"
#include "reference/meaning/meaning.h"

namespace plumb {
namespace {

Case only(const Case& c, std::size_t result) {
  Case one = c;
  one.op.chain = {results(c)[result]};
  return one;
}

Outcome only(const Outcome& outcome, std::size_t result) {
  Outcome one;
  for (Block block : outcome.blocks) {
    if (block.result != static_cast<std::int64_t>(result)) continue;
    block.result = 0;
    one.blocks.push_back(std::move(block));
  }
  if (result < outcome.claims.size()) one.claims = {outcome.claims[result]};
  one.trace = outcome.trace;
  return one;
}

std::string role(const Case& c, std::size_t result) {
  constexpr const char* current[] = {"codes", "scales"};
  constexpr const char* delayed[] = {"codes", "scale inverse", "history", "scale"};
  return c.op.chain.size() == 2 ? current[result] : delayed[result];
}

}  // namespace

Verdict judge(const WantedAll& wanted, const Outcome& outcome, const Read& read, const Declared& declared) {
  const Case& c = wanted.c;
  if (!quantizes(c.op))
    return judge(Wanted{c, wanted.operands, wanted.wholes.front(), wanted.certificate}, outcome, read,
                 declared);
  if (!is_quantize(c)) {
    const Plain p = plain(c, wanted.operands);
    return judge(Wanted{p.c, p.operands, wanted.wholes.front(), wanted.certificate}, outcome, read, declared);
  }
  Verdict all;
  for (std::size_t i = 0; i < results(c).size(); ++i) {
    const Case one = only(c, i);
    const Read of_result = [&](Block block, std::span<std::byte> into) {
      block.result = static_cast<std::int64_t>(i);
      read(block, into);
    };
    Verdict verdict = judge(Wanted{one, wanted.operands, wanted.wholes[i], wanted.certificate, true},
                            only(outcome, i), of_result, declared);
    for (Fact& fact : verdict.facts) {
      fact.text = fmt::format("{}: {}", role(c, i), fact.text);
      all.facts.push_back(std::move(fact));
    }
    all.alone = verdict.alone, all.plan = verdict.plan;
    all.clones |= verdict.clones, all.rounded += verdict.rounded;
  }
  if (!declared.data_none)
    if (auto doubt = cannot_fail(c, wanted.wholes, declared)) all.facts.push_back(std::move(*doubt));
  decide(all);
  return all;
}

}  // namespace plumb
