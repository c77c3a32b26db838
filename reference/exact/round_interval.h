// The elements whose rounding an interval proves.
#pragma once

#include "reference/exact/task.h"

namespace plumb {

inline constexpr std::int64_t kBlock = 256;  // columns rounded at a time

// Elements (i, j) to (i, j + count) of the result, and the ends of an interval around each.
struct RoundIntervals {
  std::int64_t i, j, count;
  double low[kBlock], high[kBlock];
};

// Stores the elements, rounded, and opens those whose ends differ; `sure` says that none does.
void round_intervals(const Task&, const RoundIntervals&, bool sure, Chunk&);

// gamma_{K+3}, rounded up; the two roundings of x +- e are among the 3.
inline double gamma(std::int64_t depth) {
  const double n = static_cast<double>(depth + 3) * 0x1p-53;
  return n / (1 - n) * (1 + 0x1p-40);
}

}  // namespace plumb
