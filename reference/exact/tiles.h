// The rows and columns of a product, halved tile by tile.
#pragma once

#include "reference/exact/task.h"

namespace plumb {

// Rounds the elements of a chunk and opens those that are not proved. The room of the chunk holds what
// doubles_for_halves says of `rows` rows.
void multiply_halves(const Task&, Chunk&);
std::int64_t doubles_for_halves(const Task&, std::int64_t rows);

}  // namespace plumb
