// What a process packs for a call of a library, and unpacks after it, wherever its blocks lie.
#pragma once

#include <functional>
#include <vector>

#include "adapters/rank/moves.h"

namespace plumb {

// Made ready: by the hands of the blocks, or by this processor, to which blocks that lie elsewhere are
// brought. `bytes` lie where the blocks do.
std::function<void()> packing(const Link&, std::vector<Parcel>, std::byte* bytes);

// In this order. What is moved within the process comes of the blocks as they are then.
std::function<void()> unpacking(const Link&, std::vector<Parcel>, const std::byte* bytes);

}  // namespace plumb
