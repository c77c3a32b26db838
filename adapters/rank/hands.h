// What works on the memory of blocks: this processor, or a device that has memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/device/memory.h"
#include "reference/words/dtype.h"

namespace plumb {

// What becomes of one element on its way into another format: its value divided, kept within [-most, most -
// 1] where most is not 0, rounded once.
struct Recast {
  DType from = DType::f32, to = DType::f32;
  double divisor = 1, most = 0;
};

struct Hands {
  DeviceMemory memory;
  void (*recast)(const Recast&, const std::byte* from, std::byte* to, std::int64_t count) = nullptr;
};

const Hands& own_hands();

}  // namespace plumb
