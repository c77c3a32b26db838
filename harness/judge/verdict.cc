#include "harness/judge/verdict.h"

#include <algorithm>
#include <array>

namespace plumb {
namespace {

constexpr std::array<std::string_view, statuses> names = {
    "unrun", "unsupported", "hung",     "crashed",    "malformed", "reneged", "misplaced", "leaked",
    "wrong", "diverged",    "unstable", "mistrusted", "wasteful",  "pass",    "waived"};

}  // namespace

void explain(Fact& fact, std::vector<Explanation> explanations) {
  fact.cause = sentence(explanations);
  fact.explanations = std::move(explanations);
}

void decide(Verdict& verdict) {
  std::ranges::stable_sort(verdict.facts, {}, &Fact::status);
  verdict.status = verdict.facts.empty() ? Status::pass : verdict.facts.front().status;
}

Pass pass_of(const Verdict& v) {
  if (v.plan) return Pass::plan;
  if (v.alone) return Pass::alone;
  if (v.clones) return Pass::clones;
  if (v.rounded > 0) return Pass::bound;
  if (v.untraced) return Pass::untraced;
  return v.in_place ? Pass::in_place : Pass::whole;
}

std::string_view name(Pass pass) {
  constexpr std::array<std::string_view, pass_kinds> words = {"",      "plan",     "one device", "clones",
                                                              "bound", "no trace", "in place"};
  return words[static_cast<int>(pass)];
}

std::string_view name(Status status) { return names[static_cast<int>(status)]; }

std::optional<Status> status_named(std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Status>(found - names.begin());
}

bool finding(Status status) {
  return status != Status::unrun && status != Status::unsupported && status != Status::pass &&
         status != Status::waived;
}

}  // namespace plumb
