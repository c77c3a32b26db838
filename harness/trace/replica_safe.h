// Whether replicas can end in other bits because different groups reduced for them.
#pragma once

#include <optional>

#include "adapters/protocol/outcome.h"

namespace plumb {

// Every device carries a tag. A reduction gives its members a new one, made of its group and their tags; what
// moves data keeps tags, and joins those it gathers. Safe is what leaves replicas of the result with equal
// tags: one reduction made their value. Where groups of other devices made it, the same sum may be taken in
// another order, by another algorithm.
//   f32[8]+x.y -> f32[8@x]   on x=2,y=2: all-reduce over y, scatter over x         no: two scatters
//                            scatter over x, then all-reduce over y                yes
// Absent where nothing is reduced, no two devices hold the same, or who takes part is not said.
std::optional<bool> replica_safe(const Case&, const Trace&);

}  // namespace plumb
