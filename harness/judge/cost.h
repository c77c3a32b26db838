// Bytes moved, and the least that would do.
#pragma once

#include <optional>

#include "adapters/protocol/outcome.h"
#include "harness/judge/verdict.h"
#include "reference/words/op.h"

namespace plumb {

// Bytes received over all devices; -1 where not known.
struct Cost {
  std::int64_t moved = -1;
  std::int64_t bound = -1;       // reshards whose result is not free: the fewest
  std::int64_t best_known = -1;  // the cheapest plan of a stated family
};

// Bytes received over all devices in one collective: what the backend counted, else its price. -1
// where its kind has no price. Devices that the groups do not name receive nothing.
std::int64_t moved(const Mesh&, const Collective&);

Cost cost(const Case&, const Outcome&);

// `mistrusted`, of right values: fewer bytes moved than any program moves. Something is left out of the
// trace, or the check is blind. Only where the bound is known (of a free reshard, that of what it claims),
// and what moved.
std::optional<Fact> short_fact(const Cost&);

// `wasteful` past a limit: bytes moved more than `most` times the bound of a reshard, or the best
// known of a product or a free result. Where the bound is 0 any byte is past it. A negative limit is none.
std::optional<Fact> waste_fact(const Case&, const Cost&, double most);

// Limits of `wasteful`; negative: none.
struct Most {
  double waste = -1, collectives = -1;
};

// `mistrusted`, of what would pass: a limit is asked for that cannot be judged, because the trace does not
// say what moved (nor, then, how often) or no yardstick is known.
std::optional<Fact> unjudged_fact(const Case&, const Cost&, const Most&);

}  // namespace plumb
