// The memory of a device, as a table of functions for who runs elsewhere: this processor's or, compiled by
// nvcc, a card's. What fails on a card says so in the words of its driver.
#pragma once

#include <algorithm>
#include <cstddef>
#ifdef __CUDACC__
#include "reference/device/each_index.h"
#else
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#endif

namespace plumb {

// A null pointer of `allocate` says that there is no more. `put` copies from this processor's memory, `get`
// to it, `copy` within the device's; `wait` returns when all work that was given to the device is done.
struct DeviceMemory {
  std::byte* (*allocate)(std::size_t bytes) = nullptr;
  void (*free)(std::byte*) = nullptr;
  void (*set)(std::byte* at, int byte, std::size_t bytes) = nullptr;
  void (*put)(std::byte* at, const std::byte* here, std::size_t bytes) = nullptr;
  void (*get)(std::byte* here, const std::byte* at, std::size_t bytes) = nullptr;
  void (*copy)(std::byte* to, const std::byte* from, std::size_t bytes) = nullptr;
  void (*wait)() = nullptr;
};

#ifdef __CUDACC__
inline namespace on_card {

inline std::byte* allocate_there(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
  if (error == cudaErrorMemoryAllocation) return static_cast<void>(cudaGetLastError()), nullptr;
  check_cuda(error, "cudaMalloc");
  return static_cast<std::byte*>(memory);
}

inline DeviceMemory memory_of_this_device() {
  return {allocate_there,
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
          [](std::byte* to, const std::byte* from, std::size_t bytes) {
            check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
          },
          [] { check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }};
}

}  // namespace on_card
#else
inline namespace here {

// Aligned to a line of the cache, or in huge pages where it is large.
inline std::byte* allocate_there(std::size_t bytes) {
  constexpr std::size_t line = 64, huge = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= huge ? huge : line;
  const std::size_t size = (bytes + alignment) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  if (memory && alignment == huge) madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

inline void copy_there(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

inline DeviceMemory memory_of_this_device() {
  return {allocate_there,
          [](std::byte* p) { std::free(p); },
          [](std::byte* at, int byte, std::size_t bytes) { std::memset(at, byte, bytes); },
          copy_there,
          copy_there,
          copy_there,
          [] {}};
}

}  // namespace here
#endif

}  // namespace plumb
