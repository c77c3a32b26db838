// The memory of a card. A program that asks for it links plumb_protocol_card, which is there where it is
// built with nvcc.
#pragma once

#include "adapters/protocol/device_memory.h"

namespace plumb {

const DeviceCheck* memory_of_card();

}  // namespace plumb
