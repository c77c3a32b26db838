// A result whose blocks were proved where they lie.
#pragma once

#include <optional>
#include <vector>

#include "adapters/protocol/proofs.h"
#include "harness/judge/verdict.h"
#include "harness/judge/wanted.h"

namespace plumb {

// The verdict of judge() where that is a pass: each block is proved, replicas have equal digests, the layout
// is as asked and as claimed, and the proof could have failed. Nothing elsewhere: then the blocks have to
// travel, and judge() says what is wrong with which element.
std::optional<Verdict> judge_proved(const Case&, const Outcome&, const std::vector<Proven>&, const Declared&);

// Blocks that travelled after their proof, and are others than those: the digests by its seed differ. One
// that no rank proved has none.
std::optional<Fact> others_than_proved(const Case&, const Outcome&, const Read&, const std::vector<Proven>&,
                                       std::uint64_t seed);

}  // namespace plumb
