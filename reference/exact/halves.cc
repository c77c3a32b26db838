#include "reference/exact/halves.h"

#include <cmath>

#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr double kHigh = 0x1p20;

}  // namespace

double reach(double ratio, std::int64_t length) {
  const double low = std::sqrt(static_cast<double>(length)) * (kHigh / 2);
  return (ratio / kHigh + low / kHigh + low) * (1 + 0x1p-40);
}

// Added to 1.5 * 2^52 times what it is to be a multiple of, a number is rounded to that.
PLUMB_CLONES void halve(std::span<const double> row, double unit, Half half, double* to) {
  const double round = 0x1.8p52 * kHigh * unit;
  const double high_part = half == Half::low ? 0 : 1 / kHigh, low_part = half == Half::high ? 0 : 1;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const double high = (row[k] + round) - round;
    to[k] = high * high_part + (row[k] - high) * low_part;
  }
}

PLUMB_CLONES void join(const Products& p, std::int64_t count, double* sum, double* rest) {
  for (std::int64_t j = 0; j < count; ++j) {
    const double high = p.high[j] * (kHigh * kHigh), middle = (p.both[j] - p.high[j] - p.low[j]) * kHigh;
    const double top = high + middle, part = top - high;
    const double below = ((high - (top - part)) + (middle - part)) + p.low[j];
    const double all = top + below, taken = all - top;
    sum[j] = all;
    rest[j] = (top - (all - taken)) + (below - taken);
  }
}

}  // namespace plumb
