// How many collectives a device takes part in, and how few would do if groups that the backend had were used.
#pragma once

#include "adapters/protocol/outcome.h"

namespace plumb {

// Of the device that could be spared most.
struct Collectives {
  std::int64_t issued = 0;
  std::int64_t merged = 0;
  std::vector<std::string> could;  // "2 all-reduces over dp and tp in one"
};

// Consecutive collectives merge into one where
// - all are all-reduces, all reduce-scatters or all all-gathers, of one reduction (sum and avg mix);
// - the backend had a group for exactly the axes of all of them;
// - nothing is done in between: each starts from as many bytes as the one before left;
// - of a scattered or gathered dimension: it is known to be the same one, all axes that split it divide it,
//   and they come in the order of the mesh, as a group counts its members (gathers the other way round).
// Steps are not reordered. Merging never changes a result, but for the order in which a sum is taken.
// The rule is that of pytorch/pytorch#174630, made to look for groups of part of a run too.
Collectives collectives_of(const Case&, const Outcome&);

}  // namespace plumb
