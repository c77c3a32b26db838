// What becomes of elements when they arrive.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/words/spec.h"

namespace plumb {

// Combines `count` elements at `from` into those at `to`. Both are kept as `acc`; on the way they are
// `wire`.
struct Combine {
  void (*run)(const Combine&, std::byte* to, const std::byte* from, std::int64_t count) = nullptr;
  DType acc = DType::f32, wire = DType::f32;
  std::int64_t parts = 1;  // of the mean of so many that a library makes of them, where it makes means
};

// to = from.
Combine copying(DType);

// to = wire(from), kept as acc.
Combine placing(DType acc, DType wire);

// to = to + wire(from), the sum rounded to acc; integers wrap.
Combine adding(DType acc, DType wire);

// to = the larger or smaller of to and wire(from); NaN where one is NaN.
Combine taking(Reduce, DType acc, DType wire);

// Combines elements that are both kept as `wire`, as a library does that adds up on the way: the result is
// rounded to acc, and to wire again.
void combine_travelling(const Combine&, std::byte* to, const std::byte* from, std::int64_t count);

// What leaves every value as it is when it is combined with it.
std::uint64_t neutral(DType, Reduce);

}  // namespace plumb
