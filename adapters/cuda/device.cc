// Compiled by a host's compiler it is this processor, by nvcc a card: the same formulas, another loop around
// them.
#include "adapters/cuda/device.h"

#include "adapters/cuda/move_element.h"
#include "adapters/cuda/product_element.h"
#include "adapters/cuda/recast_element.h"
#include "reference/device/each_index.h"
#ifdef __CUDACC__
#include "adapters/protocol/card_memory.h"
#endif

namespace plumb::cuda {
namespace {

void recast(const Recast& c, const std::byte* from, std::byte* to, std::int64_t count) {
  for_each_index(count, element_of(c, from, to));
}

void move(const Moves& moves) {
  with_moves(moves, [&](const auto& work) { for_each_index(moves.elements, work); });
}

void multiply(const Products& p) {
  for_each_index(p.elements,
                 ProductElement{p, width_of(p.lhs_dtype), width_of(p.rhs_dtype), width_of(p.acc)});
}

// What is read anew each time no formula can be.
struct SpunElement {
  const volatile std::int64_t* one;
#ifdef __CUDACC__
  __device__
#endif
      void
      operator()(std::int64_t) const {
    while (*one == 1) continue;
  }
};
void spin(const std::int64_t* one) { for_each_index(1, SpunElement{one}); }

#ifdef __CUDACC__
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

const DeviceCheck* memory_of_device() { return memory_of_card(); }

// What a kernel did to its context every later call says too; a card that has no memory for a context may
// have it later.
bool is_lost() {
  const cudaError_t said = cudaDeviceSynchronize();
  static_cast<void>(cudaGetLastError());  // what the next launch would take for its own
  return said != cudaSuccess && said != cudaErrorMemoryAllocation;
}
#else
std::string device_name() { return "this processor"; }
const DeviceCheck* memory_of_device() { return memory_of_processor(); }
bool is_lost() { return false; }
#endif

const Device& this_device() {
  static const Device device{
      device_name(), memory_of_device(), {memory_of_this_device(), recast},
        move, multiply, spin, is_lost
  };
  return device;
}

}  // namespace

#ifdef __CUDACC__
const Device* card(std::string& why) {
  why = why_no_card();
  return why.empty() ? &this_device() : nullptr;
}
#else
const Device& this_processor() { return this_device(); }
#endif

}  // namespace plumb::cuda
