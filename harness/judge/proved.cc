#include "harness/judge/proved.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/blocks.h"
#include "harness/judge/claimed.h"
#include "harness/judge/layout.h"
#include "harness/judge/replicas.h"
#include "harness/judge/vacuity.h"
#include "reference/check/digest.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

bool replicas_agree(const Case& c, const Outcome& outcome, const std::vector<Proven>& proofs) {
  const std::vector<std::int64_t> keys = replica_keys(c, outcome.blocks);
  std::vector<const Proven*> first(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Proven*& one = first[keys[i]];
    if (one && one->digest != proofs[i].digest) return false;
    one = &proofs[i];
  }
  return true;
}

// Blocks of nothing say nothing of what the others are.
Glance glance_at(const Case& c, const Outcome& outcome, const std::vector<Proven>& proofs) {
  const Spec& spec = result(c);
  Glance seen{spec.dtype, shape(spec), true, 0};
  bool any = false;
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    if (outcome.blocks[i].bytes == 0) continue;
    seen.alike = seen.alike && proofs[i].alike && (!any || proofs[i].first == seen.first);
    seen.first = proofs[i].first, any = true;
  }
  return seen;
}

}  // namespace

std::optional<Verdict> judge_proved(const Case& asked, const Outcome& outcome,
                                    const std::vector<Proven>& proofs, const Declared& declared) {
  const auto right = [](const Proven& p) { return p.answer == Proven::Answer::proved; };
  if (proofs.size() != outcome.blocks.size() || !std::ranges::all_of(proofs, right)) return std::nullopt;
  const Case c = as_claimed(asked, outcome);
  if (result(c).free || !layout_facts(c, outcome).empty()) return std::nullopt;
  if (!declared.clones && !replicas_agree(c, outcome, proofs)) return std::nullopt;
  const Glance seen = glance_at(c, outcome, proofs);
  if (cannot_fail(c, std::span(&seen, 1), declared)) return std::nullopt;
  Verdict verdict;
  verdict.alone = devices(c.mesh) == 1;
  verdict.clones = declared.clones && has_replicas(c, outcome);
  verdict.in_place = true;
  decide(verdict);
  return verdict;
}

std::optional<Fact> others_than_proved(const Case& asked, const Outcome& outcome, const Read& read,
                                       const std::vector<Proven>& proofs, std::uint64_t seed) {
  const Case c = as_claimed(asked, outcome);
  for (std::size_t i = 0; i < outcome.blocks.size() && i < proofs.size(); ++i) {
    const Held block = held(c, outcome.blocks[i], read);
    if (proofs[i].answer == Proven::Answer::unsaid) {
      return fact(Status::malformed,
                  fmt::format("no rank says of the block of device {} whether it is right", block.device));
    }
    if (digest_of(result(c).dtype, shape(result(c)), block.slice(), block.bytes, seed) != proofs[i].digest)
      return fact(
          Status::malformed,
          fmt::format("the block of device {} that travelled is not the one that was proved", block.device));
  }
  return std::nullopt;
}

}  // namespace plumb
