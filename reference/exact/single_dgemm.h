// One dgemm, and its elements proved by lattice or interval.
#pragma once

#include "reference/exact/task.h"

namespace plumb {

// Rounds the elements of a chunk and opens those that are not proved. The room of the chunk holds a double
// for each element.
void multiply_by_single_dgemm(const Task&, Chunk&);

}  // namespace plumb
