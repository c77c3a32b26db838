// What kernels.cc launches by these names.
#include "adapters/cuda/move_element.h"
#include "adapters/cuda/recast_element.h"

namespace {

template <class Work>
__device__ void each(const Work& work, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    work(i);
}

}  // namespace

extern "C" __global__ void plumb_move(plumb::cuda::MoveElement one, std::int64_t count) { each(one, count); }
extern "C" __global__ void plumb_recast(plumb::cuda::RecastElement one, std::int64_t count) {
  each(one, count);
}
