// Compiled by a host's compiler it is this processor, by nvcc a card: the same formulas, another loop around
// them.
#include "adapters/cuda/device.h"

#include "adapters/cuda/move_element.h"
#include "adapters/cuda/product_element.h"
#include "adapters/cuda/recast_element.h"
#include "reference/device/each_index.h"
#ifdef __CUDACC__
#include "adapters/cuda/memory_of_card.cuh"
#else
#include "adapters/cuda/memory_here.h"
#endif

namespace plumb::cuda {
namespace {

void recast(const Recast& c, const std::byte* from, std::byte* to, std::int64_t count) {
  for_each_index(count, RecastElement{c, from, to, width_of(c.from), width_of(c.to)});
}

void move(const Moves& moves) { for_each_index(moves.elements, MoveElement{moves, width_of(moves.stored)}); }

void multiply(const Products& p) {
  for_each_index(p.elements,
                 ProductElement{p, width_of(p.lhs_dtype), width_of(p.rhs_dtype), width_of(p.acc)});
}

const Device& this_device() {
  static const Device device{device_name(), hands_with(recast), move, multiply};
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
