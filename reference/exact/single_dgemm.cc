#include "reference/exact/single_dgemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/exact/blas.h"
#include "reference/exact/round_interval.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

// Facts of row i, and of the columns it meets.
struct Row {
  double error, ratio;
  const double* norms;
  const double* ratios;
  bool may_overflow;  // sums of finite products may leave the doubles
};

// The ends of the interval around each value: equal where the value is exact. What is not finite is
// right as it is, unless it may have come from finite elements.
PLUMB_CLONES void intervals_of_values(const double* values, const Row& row, RoundIntervals& around) {
  const std::int64_t count = around.count;
  const double row_error = row.error, row_ratio = row.ratio;
  const double *norms = row.norms, *ratios = row.ratios;
  for (std::int64_t j = 0; j < count; ++j) {
    const double x = values[j], e = row_error * norms[j];
    const double error = row_ratio * ratios[j] < 0x1p53 ? 0 : e;
    const double kept = std::fabs(x) <= kMost ? error : 0;
    around.low[j] = x - kept + 0.0;
    around.high[j] = x + kept + 0.0;
  }
  if (!row.may_overflow) return;
  for (std::int64_t j = 0; j < count; ++j)
    if (!(row_error * norms[j] <= kMost)) around.low[j] = -1, around.high[j] = 1;
}

// Rounds to f32 at once; whether both ends agree everywhere.
PLUMB_CLONES bool round_f32(const double* values, std::int64_t count, const Row& row, std::byte* to) {
  const double row_error = row.error, row_ratio = row.ratio;
  const double *norms = row.norms, *ratios = row.ratios;
  alignas(64) float low[kBlock];
  std::int32_t differ = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const double x = values[j], e = row_error * norms[j];
    const double error = row_ratio * ratios[j] < 0x1p53 ? 0 : e;
    const double kept = std::fabs(x) <= kMost ? error : 0;
    low[j] = static_cast<float>(x - kept + 0.0);
    differ |= low[j] != static_cast<float>(x + kept + 0.0);
  }
  std::memcpy(to, low, count * sizeof(float));
  return differ == 0;
}

// Some columns of a row, from j on; `sure` says that all are exact.
struct Block {
  std::int64_t i, j;
  bool sure;
};

void round_block(const Task& task, const Block& block, Chunk& chunk) {
  const std::int64_t i = block.i, j = block.j;
  RoundIntervals around;
  around.i = i, around.j = j, around.count = std::min(kBlock, task.c.cols - j);
  const Row row{gamma(task.left.depth) * task.left.norm[i], task.left.ratio[i], task.right.norm.data() + j,
                task.right.ratio.data() + j, task.may_overflow};
  const double* values = chunk.room + (i - chunk.begin) * task.c.cols + j;
  const bool dense_f32 = task.c.dtype == DType::f32 && task.c.col_stride == 1;
  if (dense_f32 && !task.may_overflow && round_f32(values, around.count, row, at(task.c, i, j))) return;
  intervals_of_values(values, row, around);
  round_intervals(task, around, block.sure, chunk);
}

}  // namespace

void multiply_by_single_dgemm(const Task& task, Chunk& chunk) {
  const Lines &a = task.left, &b = task.right;
  dgemm()({a.row(chunk.begin), chunk.end - chunk.begin, a.depth, a.stride},
          {b.values, b.count, b.depth, b.stride}, chunk.room, task.c.cols);
  std::vector<double> most;  // ratio of each block of columns
  for (std::int64_t j = 0; j < task.c.cols; j += kBlock) {
    const auto first = b.ratio.begin() + j;
    most.push_back(*std::max_element(first, first + std::min(kBlock, task.c.cols - j)));
  }
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i)
    for (std::int64_t j = 0; j < task.c.cols; j += kBlock)
      round_block(task, {i, j, a.ratio[i] * most[j / kBlock] < 0x1p53}, chunk);
}

}  // namespace plumb
