// What kernels.cc launches by these names.
#include "adapters/cuda/move_element.h"
#include "adapters/cuda/recast_element.h"
#include "reference/device/each_index.h"

extern "C" __global__ void plumb_move(plumb::cuda::Moves moves, std::int64_t count) {
  plumb::cuda::with_moves(moves, [&](const auto& work) { plumb::share_of_thread(work, count); });
}
extern "C" __global__ void plumb_recast(plumb::cuda::RecastElement one, std::int64_t count) {
  plumb::share_of_thread(one, count);
}
