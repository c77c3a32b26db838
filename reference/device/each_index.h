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

template <class Work>
__device__ void share_of_thread(const Work& work, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if constexpr (requires { work.held(i); })
    for (; i + (kHeldAtOnce - 1) * step < count; i += kHeldAtOnce * step) {
      decltype(work.held(i)) held[kHeldAtOnce];
#pragma unroll
      for (int k = 0; k < kHeldAtOnce; ++k) held[k] = work.held(i + k * step);
#pragma unroll
      for (int k = 0; k < kHeldAtOnce; ++k) work.put(held[k]);
    }
  for (; i < count; i += step) work(i);
}

template <class Work>
__global__ void run_work(Work work, std::int64_t count) {
  share_of_thread(work, count);
}

template <class Is>
__global__ void run_first(Is is, std::int64_t count, unsigned long long* first) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    if (is(i)) return static_cast<void>(atomicMin(first, static_cast<unsigned long long>(i)));
}

template <class Term>
__global__ void run_sum(Term term, std::int64_t count, unsigned long long* sum) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long mine = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    mine += term(i);
  atomicAdd(sum, mine);
}

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  if (count == 0) return;
  constexpr int each = requires { work.held(count); }
  ? kHeldAtOnce : 1;
  run_work<<<grid_of((count + each - 1) / each), kThreadsOfBlock>>>(work, count);
  check_cuda(cudaGetLastError(), "a kernel's launch");
}

// One word in the card's memory, begun with a value, brought back.
template <class Launch>
std::uint64_t word_after(std::uint64_t begun, Launch&& launch) {
  unsigned long long *there = nullptr, here = begun;
  check_cuda(cudaMalloc(&there, sizeof here), "cudaMalloc");
  const cudaError_t put = cudaMemcpy(there, &here, sizeof here, cudaMemcpyHostToDevice);
  if (put == cudaSuccess) launch(there);
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t brought = cudaMemcpy(&here, there, sizeof here, cudaMemcpyDeviceToHost);
  cudaFree(there);
  check_cuda(put, "cudaMemcpy");
  check_cuda(launched, "a kernel's launch");
  check_cuda(brought, "a kernel");
  return here;
}

template <class Is>
std::int64_t first_index(std::int64_t count, const Is& is) {
  if (count == 0) return 0;
  return static_cast<std::int64_t>(word_after(
      static_cast<std::uint64_t>(count),
      [&](unsigned long long* first) { run_first<<<grid_of(count), kThreadsOfBlock>>>(is, count, first); }));
}

template <class Term>
std::uint64_t sum_over(std::int64_t count, const Term& term) {
  if (count == 0) return 0;
  return word_after(
      0, [&](unsigned long long* sum) { run_sum<<<grid_of(count), kThreadsOfBlock>>>(term, count, sum); });
}

}  // namespace on_card
#else
inline namespace here {

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  for (std::int64_t i = 0; i < count; ++i) work(i);
}

// The first index for which it is so; count where there is none.
template <class Is>
std::int64_t first_index(std::int64_t count, const Is& is) {
  for (std::int64_t i = 0; i < count; ++i)
    if (is(i)) return i;
  return count;
}

// Modulo 2^64, in any order.
template <class Term>
std::uint64_t sum_over(std::int64_t count, const Term& term) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += term(i);
  return sum;
}

}  // namespace here
#endif

}  // namespace plumb
