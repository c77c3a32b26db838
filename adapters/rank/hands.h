// What works on the memory of blocks: this processor, or a device that has memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "reference/device/memory.h"
#include "reference/words/dtype.h"

namespace plumb {

// What becomes of one element on its way into another format: its value divided, kept within [-most, most -
// 1] where most is not 0, rounded once.
struct Recast {
  DType from = DType::f32, to = DType::f32;
  double divisor = 1, most = 0;
};

struct Link;
struct Parcel;

struct Hands {
  DeviceMemory memory;
  void (*recast)(const Recast&, const std::byte* from, std::byte* to, std::int64_t count) = nullptr;
  // What leaves, packed for a call, and what arrives, unpacked in the order of the plan, made ready; empty:
  // by this processor.
  std::function<std::function<void()>(const Link&, std::span<const Parcel>, std::byte* bytes)> pack{};
  std::function<std::function<void()>(const Link&, std::span<const Parcel>, const std::byte* bytes)> unpack{};
};

const Hands& own_hands();

}  // namespace plumb
