// What no dgemm proves.
#pragma once

#include "reference/exact/dot.h"
#include "reference/exact/task.h"

namespace plumb {

// Decides what is open.
void settle_chunk(const Task&, const Chunk&);

// The element in two bins, for exact products.
Sum2 two_bins(const Task&, std::int64_t i, std::int64_t j);

}  // namespace plumb
