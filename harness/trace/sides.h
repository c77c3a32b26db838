// Sides of the mesh: devices that are taken as one, which has whatever any of them has.
#pragma once

#include <vector>

#include "adapters/protocol/outcome.h"

namespace plumb {

using Sets = std::vector<std::vector<std::int64_t>>;  // of devices, each in one

// The fibres along all axes but those of a set, for every set of axes that divides the mesh, the largest
// first; 64 divisions at most.
std::vector<Sets> divisions(const Mesh&);

// The divisions, and for each collective what all that take place between other members join.
std::vector<Sets> cuts(const Mesh&, const Trace&);

}  // namespace plumb
