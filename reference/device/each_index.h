// Work over an index: a loop on this processor or, compiled by nvcc, a kernel on a card. Work is a struct of
// plain data, whose constexpr operator() knows neither.
#pragma once

#include <algorithm>
#include <cstdint>
#ifdef __CUDACC__
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#endif

namespace plumb {

// How many threads a block of a kernel has, and how many blocks work over so many indices.
constexpr unsigned kThreadsOfBlock = 256;
inline unsigned grid_of(std::int64_t count) {
  return static_cast<unsigned>(
      std::min<std::int64_t>((count + kThreadsOfBlock - 1) / kThreadsOfBlock, 1 << 16));
}

#ifdef __CUDACC__
inline namespace on_card {

inline void check_cuda(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

// Work that only moves holds some words before it puts the first: their ways through memory go side by side.
constexpr int kHeldAtOnce = 4;

// How many indices a thread goes through at once.
template <class Work>
constexpr int indices_at_once() {
  if constexpr (requires(const Work work) { work.held(0); }) return kHeldAtOnce;
  return 1;
}

template <class Work>
__device__ void held_at_once(const Work& work, std::int64_t first) {
  decltype(work.held(first)) held[kHeldAtOnce];
#pragma unroll
  for (int k = 0; k < kHeldAtOnce; ++k) held[k] = work.held(first + k * blockDim.x);
#pragma unroll
  for (int k = 0; k < kHeldAtOnce; ++k) work.put(held[k]);
}

template <class Work>
__device__ void share_of_thread(const Work& work, std::int64_t count) {
  constexpr int each = indices_at_once<Work>();
  const std::int64_t tile = static_cast<std::int64_t>(each) * blockDim.x;
  for (std::int64_t begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    if constexpr (each > 1)
      if (begin + tile <= count) {
        held_at_once(work, begin + threadIdx.x);
        continue;
      }
    for (std::int64_t i = begin + threadIdx.x; i < begin + tile && i < count; i += blockDim.x) work(i);
  }
}

template <class Work>
__global__ void run_work(Work work, std::int64_t count) {
  share_of_thread(work, count);
}

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  if (count == 0) return;
  constexpr int each = indices_at_once<Work>();
  run_work<<<grid_of((count + each - 1) / each), kThreadsOfBlock>>>(work, count);
  check_cuda(cudaGetLastError(), "a kernel's launch");
}

}  // namespace on_card
#else
inline namespace here {

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  for (std::int64_t i = 0; i < count; ++i) work(i);
}

}  // namespace here
#endif

}  // namespace plumb
