// What becomes of elements when they arrive.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/words/dtype.h"

namespace plumb {

// Combines `count` elements at `from` into those at `to`. Both are kept as `acc`; on the way they are
// `wire`.
struct Combine {
  void (*run)(const Combine&, std::byte* to, const std::byte* from, std::int64_t count) = nullptr;
  DType acc = DType::f32, wire = DType::f32;
};

// to = from.
Combine copying(DType);

// to = to + wire(from), the sum rounded to acc; integers wrap.
Combine adding(DType acc, DType wire);

}  // namespace plumb
