#include "harness/judge/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/judge/claimed.h"
#include "harness/judge/layout.h"
#include "reference/meaning/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Whether two layouts of one shape split it over the same axes, those of size 1 aside.
bool same_split(const Mesh& mesh, const Spec& a, const Spec& b) {
  return without_unit_axes(mesh, a).dims == without_unit_axes(mesh, b).dims;
}

std::string shown(const Mesh& mesh, const Spec& spec) { return print(mesh, without_unit_axes(mesh, spec)); }

std::int64_t most_elements(const Case& c, const Spec& spec) {
  std::int64_t n = 1;
  for (const Dim& dim : spec.dims) n *= piece(c.mesh, dim, c.rule, 0).size();
  return n;
}

// What the other layout costs in memory.
std::string memory(const Case& c, const Spec& claimed, const Spec& asked) {
  const std::int64_t has = most_elements(c, claimed), due = most_elements(c, asked);
  if (has == due) return "";
  const int size = format(asked.dtype).bytes;
  return fmt::format("; {} bytes on a device, not {}", has * size, due * size);
}

Explanation explained(const Policy& policy, std::string error) {
  Explanation all{{}, std::move(error)};
  for (const PolicyChange& change : policy_changes())
    if (policy.*change.flag) all.causes.push_back({std::string(change.name)});
  return all;
}

// The other policies that answer so and change the fewest things.
std::vector<Explanation> other_policies(const Case& c, const Spec* claimed) {
  std::vector<Explanation> all;
  std::optional<int> fewest;
  for (const Policy& policy : plumb::other_policies()) {
    if (fewest && changes(policy) > *fewest) break;
    const Resolved other = resolved(c, policy);
    if (claimed ? !other.spec || !same_split(c.mesh, *other.spec, *claimed) : other.spec.has_value())
      continue;
    fewest = changes(policy);
    all.push_back(explained(policy, claimed ? "" : other.error));
  }
  return all;
}

std::optional<Spec> answered_spec(const Case& c, const Outcome& outcome) {
  const std::optional<std::string> claim = claim_of(outcome);
  if (!claim) return std::nullopt;
  Spec spec = parse_spec(*claim, c.mesh);
  if (spec.dtype != result(c).dtype || shape(spec) != shape(result(c))) return std::nullopt;
  return spec;
}

std::vector<Fact> answer_facts(const Case& c, const Outcome& outcome) {
  const Resolved wanted = resolved(c);
  const std::optional<Spec> claimed = answered_spec(c, outcome);
  std::vector<Fact> facts;
  if (!wanted.spec) {
    facts.push_back(
        fact(Status::misplaced, fmt::format("answers {}, and there is no layout: {}",
                                            claim_of(outcome).value_or("with slices"), wanted.error)));
  } else {
    Case asked = c;
    asked.op.chain.back() = without_unit_axes(c.mesh, *wanted.spec);
    Outcome answer = outcome;
    if (claimed) answer.claims.front() = shown(c.mesh, *claimed);
    facts = layout_facts(asked, answer);
    std::ranges::reverse(facts);  // what is claimed says more than the first slice
    if (!facts.empty() && claimed) facts.front().text += memory(c, *claimed, *wanted.spec);
  }
  if (!facts.empty() && claimed) explain(facts.front(), other_policies(c, &*claimed));
  return facts;
}

Verdict verdict_of(const Case& c, std::vector<Fact> facts) {
  Verdict verdict;
  verdict.alone = devices(c.mesh) == 1;
  verdict.plan = true;
  verdict.facts = std::move(facts);
  decide(verdict);
  return verdict;
}

}  // namespace

Verdict judge_resolver(const Case& c, const Outcome& outcome) {
  std::vector<Fact> facts;
  if (auto doubt = said_nothing(outcome))
    facts.push_back(std::move(*doubt));
  else
    facts = answer_facts(c, outcome);
  return verdict_of(c, std::move(facts));
}

Verdict judge_refusal(const Case& c, const std::string& message) {
  const Resolved wanted = resolved(c);
  if (!wanted.spec) return verdict_of(c, {});
  Fact refused =
      fact(Status::reneged, fmt::format("{}; there is a layout: {}", message, shown(c.mesh, *wanted.spec)));
  explain(refused, other_policies(c, nullptr));
  return verdict_of(c, {std::move(refused)});
}

}  // namespace plumb
