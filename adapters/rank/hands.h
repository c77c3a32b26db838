// What works on the memory of blocks: this processor, or a device that has memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/words/dtype.h"

namespace plumb {

// What becomes of one element on its way into another format: its value divided, kept within [-most, most -
// 1] where most is not 0, rounded once.
struct Recast {
  DType from = DType::f32, to = DType::f32;
  double divisor = 1, most = 0;
};

// A null pointer of `allocate` says that there is no more. `put` copies from this processor's memory, `get`
// to it.
struct Hands {
  std::byte* (*allocate)(std::size_t bytes) = nullptr;
  void (*free)(std::byte*) = nullptr;
  void (*set)(std::byte* at, int byte, std::size_t bytes) = nullptr;
  void (*put)(std::byte* at, const std::byte* here, std::size_t bytes) = nullptr;
  void (*get)(std::byte* here, const std::byte* at, std::size_t bytes) = nullptr;
  void (*recast)(const Recast&, const std::byte* from, std::byte* to, std::int64_t count) = nullptr;
};

const Hands& own_hands();

}  // namespace plumb
