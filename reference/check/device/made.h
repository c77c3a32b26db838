// What a result is made of, as plain data for kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/device/element_at.h"
#include "reference/fill/at_index.h"
#include "reference/words/spec.h"

namespace plumb {

// A slice of an array, as kernels see it: the dense block, and where its elements are in the whole array.
struct Cutout {
  static constexpr int kMost = 32;
  int dims = 0;
  std::int64_t count = 1, first = 0;
  std::int64_t sizes[kMost] = {}, steps[kMost] = {};

  constexpr std::int64_t whole(std::int64_t i) const {
    std::int64_t at = first;
    for (int d = dims; d-- > 0;) {
      const Divided by = divided(i, sizes[d]);
      at += by.rest * steps[d], i = by.times;
    }
    return at;
  }
};
Cutout cutout(const std::vector<std::int64_t>& shape, const Slice&);

// What every element of a reshard's result is made of: the same element of each part.
struct MadeOf {
  AtIndex data;
  DType dtype = DType::f32;
  std::int64_t parts = 1;
  Reduce reduction = Reduce::sum;
  double divisor = 1;
  bool signs = false;  // a zero has to have its sign
};
// Nothing where no block can be proved, or by products, or where the data hang on more than their index.
struct Prover;
std::optional<MadeOf> made(const Prover&);

}  // namespace plumb
