// Writes computed values as elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "reference/words/dtype.h"

namespace plumb {

// Elements 0 to count - 1 of value(i), in chunks that stay in the cache between the two loops.
template <class Value>
void emit(DType dtype, std::int64_t count, std::byte* out, Value&& value) {
  double chunk[512];
  const int bytes = format(dtype).bytes;
  for (std::int64_t begin = 0; begin < count; begin += 512) {
    const std::int64_t n = std::min<std::int64_t>(512, count - begin);
    for (std::int64_t i = 0; i < n; ++i) chunk[i] = value(begin + i);
    encode(dtype, chunk, n, out + begin * bytes);
  }
}

}  // namespace plumb
