// The local products of a plan on a device that has the memory of all virtual devices.
#pragma once

#include "adapters/cuda/device.h"
#include "adapters/rank/execute.h"

namespace plumb::cuda {

Multiply products_by(const Device&);

}  // namespace plumb::cuda
