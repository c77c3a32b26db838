// Parcels packed and unpacked by a device, where the blocks lie.
#pragma once

#include <functional>
#include <span>

#include "adapters/cuda/work.h"
#include "adapters/rank/moves.h"

namespace plumb::cuda {

// Made ready. `bytes` are as aligned as blocks; none where all stays within the process. Law: the same bits
// as pack and unpack of adapters/rank make, parcel by parcel.
using Move = void (*)(const Moves&);
std::function<void()> pack_by(Move, const Link&, std::span<const Parcel>, std::byte* bytes);
std::function<void()> unpack_by(Move, const Link&, std::span<const Parcel>, const std::byte* bytes);

}  // namespace plumb::cuda
