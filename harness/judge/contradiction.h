// Right values beside a trace that cannot have made them.
#pragma once

#include <optional>

#include "harness/judge/verdict.h"
#include "harness/trace/cost.h"

namespace plumb {

// `mistrusted`, of right values: fewer bytes moved than any program moves. Something is left out of the
// trace, or the check is blind. Only where the bound is known (of a free reshard, that of what it claims),
// and what moved.
std::optional<Fact> short_fact(const Cost&);

// `mistrusted`, of right values: by its trace the backend cannot have made this result, for some device was
// brought nothing of an element that its block is made of (needs.h, reachability.h), or fewer bytes than its
// block needs, or a collective is impossible, or one that this result cannot have (untrue.h). Of a result
// that is still free by the slices that its blocks say.
std::optional<Fact> contradiction(const Case&, const Outcome&, const Verdict& = {});

}  // namespace plumb
