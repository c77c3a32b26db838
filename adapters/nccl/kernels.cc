#include "adapters/nccl/kernels.h"

#include "adapters/card/driver.h"
#include "adapters/card/memory.h"
#include "adapters/cuda/move_element.h"
#include "adapters/cuda/parcels.h"
#include "adapters/cuda/recast_element.h"
#include "adapters/nccl/communicators.h"
#include "adapters/nccl/forms.h"
#include "reference/device/each_index.h"

// The module that nvcc made of kernels.cu, as bytes.
#ifdef PLUMB_NCCL_KERNELS
asm(".section .rodata\n.balign 64\nplumb_nccl_kernels: .incbin \"" PLUMB_NCCL_KERNELS "\"\n.previous");
extern "C" const unsigned char plumb_nccl_kernels[];
#endif

namespace plumb::nccl {
namespace {

struct Kernels {
  CUfunction move = nullptr, recast = nullptr;
};

Kernels loaded() {
  Kernels kernels;
#ifdef PLUMB_NCCL_KERNELS
  const card::Driver& d = card::the_driver();
  CUmodule module = nullptr;
  const CUresult error = d.ModuleLoadData(&module, plumb_nccl_kernels);
  if (error == CUDA_ERROR_NO_BINARY_FOR_GPU) return {};
  card::check(error, "cuModuleLoadData");
  card::check(d.ModuleGetFunction(&kernels.move, module, "plumb_move"), "cuModuleGetFunction");
  card::check(d.ModuleGetFunction(&kernels.recast, module, "plumb_recast"), "cuModuleGetFunction");
#endif
  return kernels;
}

const Kernels& kernels() {
  static const Kernels all = loaded();
  return all;
}

template <class Work>
void launch(CUfunction kernel, Work work, std::int64_t count) {
  if (count == 0) return;
  void* given[] = {&work, &count};
  card::check(card::the_driver().LaunchKernel(kernel, grid_of(count), 1, 1, kThreadsOfBlock, 1, 1, 0, nullptr,
                                              given, nullptr),
              "cuLaunchKernel");
}

void move(const cuda::Moves& m) { launch(kernels().move, m, m.elements); }

void recast(const Recast& how, const std::byte* from, std::byte* to, std::int64_t count) {
  launch(kernels().recast, cuda::element_of(how, from, to), count);
}

Hands with_kernels() {
  Hands hands = card::card_hands();
  if (world().form == Form::registered)
    hands.memory.allocate = allocate_to_register, hands.memory.free = free_to_register;
  if (!kernels().move) return hands;
  hands.recast = recast;
  hands.pack = [](const Link& link, std::span<const Parcel> parcels, std::byte* bytes) {
    return cuda::pack_by(move, link, parcels, bytes);
  };
  hands.unpack = [](const Link& link, std::span<const Parcel> parcels, const std::byte* bytes) {
    return cuda::unpack_by(move, link, parcels, bytes);
  };
  return hands;
}

}  // namespace

const Hands& hands_on_card() {
  static const Hands hands = with_kernels();
  return hands;
}

}  // namespace plumb::nccl
