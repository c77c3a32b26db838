// The rounds of a plan, made ready for a device that has the memory of all virtual devices.
#pragma once

#include "adapters/cuda/device.h"
#include "adapters/rank/legs.h"

namespace plumb::cuda {

// Of what a round sends the bytes are counted from the boxes that the device is given, not from the plan's
// words.
Carry by_device(const Device&, Order, const Mesh&, std::int64_t& received);

}  // namespace plumb::cuda
