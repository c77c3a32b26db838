// The same case with a device's share fixed.
#pragma once

#include "reference/words/op.h"

namespace plumb {

// A dimension that some spec splits has so many elements on each device: its size is multiplied by that of
// the axes that split it furthest. Throws BadInput of a case that is neither a reshard nor an einsum.
Case per_device(const Case&);

}  // namespace plumb
