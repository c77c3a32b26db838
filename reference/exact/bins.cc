// Every product here is exact in double, so that fma(a, b, t) and a * b + t are the same number: this file
// alone is compiled with contraction, which makes 4 operations of 5.
#include "reference/exact/bins.h"

#include <bit>

#include "reference/exact/lanes.h"

namespace plumb {
namespace {

template <int rows, int cols>
PLUMB_INLINE void run_bins(const Pair& p, std::int64_t stride, const Bins* bins, Sum2* sums) {
  Lanes t[rows][cols], l[rows][cols], a[rows], b;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) t[r][c] = Lanes{} + bins[r * cols + c].start, l[r][c] = Lanes{};
  for (std::int64_t k = 0; k < p.length; k += 8) {
    for (int r = 0; r < rows; ++r) read(a[r], p.a + r * stride + k);
    for (int c = 0; c < cols; ++c) {
      read(b, p.b + c * stride + k);
      for (int r = 0; r < rows; ++r) {
        const Lanes product = a[r] * b, sum = t[r][c] + product, kept = sum - t[r][c];
        l[r][c] += product - kept;
        t[r][c] = sum;
      }
    }
  }
  for (int i = 0; i < rows * cols; ++i) {
    sums[i] = {0, 0, bins[i].error};
    for (int lane = 0; lane < 8; ++lane) {
      sums[i].hi += t[i / cols][i % cols][lane] - bins[i].start;
      sums[i].lo += l[i / cols][i % cols][lane];
    }
  }
}

}  // namespace

Bins bins(double bound, double ratio, std::int64_t length) {
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(bound) >> 52;  // bound < 2 * its power
  const double above = 2 * std::bit_cast<double>(exponent << 52), count = static_cast<double>(length);
  const bool exact = count * ratio <= 0x1p102;
  return {6 * above, exact ? 0 : count * count * above * 0x1p-103};
}

PLUMB_CLONES Sum2 two_bins(const Pair& p, const Bins& start) {
  Sum2 sum;
  run_bins<1, 1>(p, 0, &start, &sum);
  return sum;
}

PLUMB_CLONES void two_bins_block(const Pair& p, std::int64_t stride, const Bins* starts, Sum2* sums) {
  run_bins<kBlockRows, kBlockCols>(p, stride, starts, sums);
}

}  // namespace plumb
