// Elements in a row.
#pragma once

#include <cstdint>

namespace plumb {

// Elements [begin, begin + count) of a part of an operand, in row-major order of its whole array.
struct Run {
  int operand = 0;
  std::int64_t part = 0, begin = 0, count = 0;
};

}  // namespace plumb
