// What the devices of a process could do at best, alone: limits for a clock.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "adapters/rank/calls.h"
#include "adapters/rank/legs.h"
#include "adapters/rank/multiply.h"

namespace plumb {

// Memory as blocks have it: what pages memory has makes more of a difference than a call. Its words differ,
// and are between 1 and 2 in every floating-point format: constants are moved, and multiplied, faster than
// data.
using SharedMemory = std::shared_ptr<std::byte[]>;
SharedMemory drawn_like_blocks(std::size_t bytes, const Hands& = own_hands());

// So many bytes copied in the memory of each device of the holder.
std::function<void()> copy_in_memory(std::size_t bytes, const Holder&);

// Whom a rank sends to and hears from; nothing of other words.
//
//   send            0 -> 1 -> 2 -> 0    a ring
//   link 0-1 2-3    0 <-> 1, 2 <-> 3    pairs; who is on no link has itself
struct Neighbours {
  int to = 0, from = 0;
};
std::optional<Neighbours> neighbours(const std::string& what, const Team& all);

// The plain products of a plan, in f32, or f64 where it adds up in that: each by OpenBLAS where it is worth
// it, else by a loop. Nothing where there is no product.
std::function<void()> plain_product(const Plan&, const Holder&);

// What is packed for calls and unpacked after them, without these, which spoils results. Nothing where nothing is.
std::function<void()> packing_alone(const Passage&, const Holder&);

}  // namespace plumb
