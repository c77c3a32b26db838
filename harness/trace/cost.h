// Bytes moved, and the least that would do.
#pragma once

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// Bytes received over all devices; -1 where not known. Where some collective does not say, what the program
// counted in all, if it did.
struct Cost {
  std::int64_t moved = -1;
  std::int64_t bound = -1;       // reshards whose result is not free: the fewest
  std::int64_t best_known = -1;  // the cheapest plan of a stated family
  bool at_most = false;          // of sends that nobody counted `moved` is the most that they can move
};

// Bytes received over all devices in one collective: what the backend counted, else its price. -1
// where its kind has no price. Devices that the groups do not name receive nothing.
std::int64_t moved(const Mesh&, const Collective&);
std::int64_t moved(const Mesh&, const Trace&);  // in all

Cost cost(const Case&, const Outcome&);

}  // namespace plumb
