// A fault in one call of one rank, to see on GPUs what is said of it.
#pragma once

#include <string>

#include "adapters/rank/calls.h"

namespace plumb::nccl {

// "skips:2:1": rank 2 does not make the first call of its process. "endless:2:1": something that never ends
// is on its stream before that call. Throws std::invalid_argument; nothing of an empty text.
void plant(const std::string& fault, int rank, Calls&);

}  // namespace plumb::nccl
