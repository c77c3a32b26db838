// A stub of the CUDA runtime, for tests, in whose place it is linked: kernels are what nvcc made of them,
// translated from PTX. It is no GPU, and says so as the name of its card. The card's memory is this
// processor's, at addresses that no instruction of it reaches, and holds what nobody wrote.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "adapters/cuda/testing/ptx_kernels.h"

namespace {

using plumb::ptx::kFar;
using plumb::ptx::stop;

void* far(void* here) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(here) | kFar); }
template <class T>
T* here(T* there) {
  const auto at = reinterpret_cast<std::uintptr_t>(there);
  if ((at & kFar) == 0) stop("an address that is none of the card's memory");
  return reinterpret_cast<T*>(at & ~kFar);
}

// By the function of this processor that launches them. They register before anything of ours begins.
std::map<const void*, std::string>& names() {
  static std::map<const void*, std::string> all;
  return all;
}

// Between <<<>>> and the launch.
struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
Configuration called;

cudaError_t last = cudaSuccess;

// STUB_LACKS=BYTES: so much cannot be had the first time that it is asked for; -BYTES: nor later. 0: the
// first memory at all, nor can be waited then, as where a card has no memory for a context.
bool waits_in_vain = false;
bool lacks(std::size_t bytes) {
  static const char* text = std::getenv("STUB_LACKS");
  if (!text) return false;
  const long long asked = std::atoll(text);
  if (asked != 0 && std::abs(asked) != static_cast<long long>(bytes)) return false;
  waits_in_vain = asked == 0;
  if (asked >= 0) text = nullptr;
  return true;
}

bool is_possible(const dim3& grid, const dim3& block) {
  return grid.x > 0 && grid.x <= 0x7fffffff && grid.y == 1 && grid.z == 1 && block.x > 0 && block.x <= 1024 &&
         block.y == 1 && block.z == 1;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* one = nullptr;
  return &one;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void**, const char* launcher, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  names()[launcher] = name;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* launcher) {
  return *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(launcher)), cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream) {
  return called = {grid, block, shared, stream}, 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = called.grid, *block = called.block, *shared = called.shared;
  *static_cast<void**>(stream) = called.stream;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* launcher, dim3 grid, dim3 block, void** given, std::size_t,
                             cudaStream_t) {
  if (!is_possible(grid, block)) return last = cudaErrorInvalidConfiguration;
  const plumb::ptx::Kernel* kernel = plumb::ptx::kernel_named(names()[launcher]);
  if (!kernel) stop(("no kernel " + names()[launcher]).c_str());
  return run_grid(*kernel, grid.x, block.x, given), cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** given, std::size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, given, shared, stream);
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  return last = cudaSuccess, error;
}

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ? "invalid configuration argument" : "an error of the stub";
}

cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::snprintf(properties->name, sizeof properties->name, "stub of CUDA: PTX on this processor, no GPU");
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return std::exchange(waits_in_vain, false) ? last = cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  if (lacks(bytes)) return last = cudaErrorMemoryAllocation;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory) return last = cudaErrorMemoryAllocation;
  std::memset(memory, static_cast<int>(plumb::ptx::kUnset & 255), bytes);
  return *at = far(memory), cudaSuccess;
}

cudaError_t cudaFree(void* at) {
  if (at) std::free(here(at));
  return cudaSuccess;
}

cudaError_t cudaMemset(void* at, int byte, std::size_t bytes) {
  return std::memset(here(at), byte, bytes), cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  if (kind != cudaMemcpyDeviceToHost) to = here(to);
  if (kind != cudaMemcpyHostToDevice) from = here(from);
  return std::memcpy(to, from, bytes), cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
}
