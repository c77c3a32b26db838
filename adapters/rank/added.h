// How often a part was added and rounded on its way into a sum, as a reply says it (adapters/protocol).
#pragma once

#include <functional>

#include "adapters/protocol/outcome.h"
#include "reference/words/mesh.h"

namespace plumb {

// At most, of any part; roundings to the wire type, the first time when it is sent. 0 and 0: it is not known.
struct Added {
  std::int64_t additions = 0, roundings = 0;
};

// Of n parts: one after the other, each sum rounded to the wire; in pairs, and pairs of pairs; and kept in
// the accumulate type until they are finished.
Added one_by_one(std::int64_t n);
Added in_pairs(std::int64_t n);
Added kept_until_finished(std::int64_t n);

// Says of each collective of a trace that adds up floats, over n devices, how that was done.
void say_how_added(const Mesh&, Trace&, const std::function<Added(const Collective&, std::int64_t n)>&);

}  // namespace plumb
