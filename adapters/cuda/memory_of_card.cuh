// A card: its name and its memory. What fails says so in the words of its driver.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "adapters/rank/hands.h"
#include "reference/device/each_index.h"

namespace plumb::cuda {
namespace {

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
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  return properties.name;
}

std::byte* allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (error == cudaErrorMemoryAllocation) return static_cast<void>(cudaGetLastError()), nullptr;
  check_cuda(error, "cudaMalloc");
  return static_cast<std::byte*>(memory);
}

using RecastAll = void(const Recast&, const std::byte*, std::byte*, std::int64_t);
Hands hands_with(RecastAll* recast) {
  return {allocate,
          [](std::byte* memory) { cudaFree(memory); },
          [](std::byte* at, int byte, std::size_t bytes) {
            check_cuda(cudaMemset(at, byte, bytes), "cudaMemset");
          },
          [](std::byte* at, const std::byte* here, std::size_t bytes) {
            check_cuda(cudaMemcpy(at, here, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
          },
          [](std::byte* here, const std::byte* at, std::size_t bytes) {
            check_cuda(cudaMemcpy(here, at, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
          },
          recast};
}

}  // namespace
}  // namespace plumb::cuda
