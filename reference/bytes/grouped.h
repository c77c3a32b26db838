// A plan for a grouped matmul.
#pragma once

#include "reference/bytes/family.h"

namespace plumb {

// Bytes received, counted from the sizes of the groups: a device needs the rows of its groups and the weights
// of the groups of its rows, and nothing of an empty group.
Moved moved_in_grouped(const Case&, const Words&, const Split&);

}  // namespace plumb
