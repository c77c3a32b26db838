// In the place of device.cc as nvcc compiles it, where there was no nvcc.
#include "adapters/cuda/device.h"

namespace plumb::cuda {

const Device* card(std::string& why) {
  why = "built without nvcc";
  return nullptr;
}

}  // namespace plumb::cuda
