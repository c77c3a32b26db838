// A card: its memory, and a kernel for a loop. What fails says so in the words of its driver.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "adapters/rank/hands.h"

namespace plumb::cuda {
namespace {

void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

std::string why_no_card() {
  int cards = 0;
  const cudaError_t error = cudaGetDeviceCount(&cards);
  if (error == cudaErrorInsufficientDriver) {
    int version = 0;
    cudaDriverGetVersion(&version);
    return version == 0 ? "no CUDA driver"
                        : "the CUDA driver is older than CUDA " + std::to_string(CUDART_VERSION / 1000);
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && cards == 0)) return "no GPU";
  return error == cudaSuccess ? "" : std::string("cudaGetDeviceCount: ") + cudaGetErrorString(error);
}

std::string device_name() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  return properties.name;
}

std::byte* allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (error == cudaErrorMemoryAllocation) return static_cast<void>(cudaGetLastError()), nullptr;
  check(error, "cudaMalloc");
  return static_cast<std::byte*>(memory);
}

using RecastAll = void(const Recast&, const std::byte*, std::byte*, std::int64_t);
Hands hands_with(RecastAll* recast) {
  return {
      allocate,
      [](std::byte* memory) { cudaFree(memory); },
      [](std::byte* at, int byte, std::size_t bytes) { check(cudaMemset(at, byte, bytes), "cudaMemset"); },
      [](std::byte* at, const std::byte* here, std::size_t bytes) {
        check(cudaMemcpy(at, here, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
      },
      [](std::byte* here, const std::byte* at, std::size_t bytes) {
        check(cudaMemcpy(here, at, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
      },
      recast};
}

template <class Work>
__global__ void work_on(Work work, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    work(i);
}

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  if (count == 0) return;
  constexpr std::int64_t threads = 256, most = 1 << 16;
  work_on<<<static_cast<unsigned>(std::min((count + threads - 1) / threads, most)), threads>>>(work, count);
  check(cudaGetLastError(), "a kernel's launch");
}

}  // namespace
}  // namespace plumb::cuda
