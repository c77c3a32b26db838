#include "reference/exact/settle.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "reference/exact/bins.h"
#include "reference/exact/parallel.h"

namespace plumb {
namespace {

constexpr std::int64_t kPanel = 64;  // columns that stay in cache while all rows pass

Pair pair_of(const Task& task, std::int64_t i, std::int64_t j) {
  return {task.left.row(i), task.right.row(j), task.left.stride};
}

Bins bins_of(const Task& task, std::int64_t i, std::int64_t j) {
  const double bound = task.left.norm[i] * task.right.norm[j] * (1 + 0x1p-50);
  const double ratio = task.left.ratio[i] * task.right.ratio[j] * (1 + 0x1p-50);
  return bins(bound, ratio, task.left.stride);
}

void settle(const Task& task, std::int64_t i, std::int64_t j, const Sum2& sum) {
  std::uint64_t bits;
  if (!rounded_once(task.c.dtype, sum, bits)) bits = dot_slowly(task.c.dtype, pair_of(task, i, j));
  store(task.c.dtype, at(task.c, i, j), bits);
}

void settle_one(const Task& task, std::int64_t i, std::int64_t j) {
  if (task.exact_products) return settle(task, i, j, two_bins(task, i, j));
  settle(task, i, j, compensated(pair_of(task, i, j), task.left.norm[i] * task.right.norm[j]));
}

void settle_block(const Task& task, std::int64_t i, std::int64_t j) {
  Bins starts[kBlockRows * kBlockCols];
  Sum2 sums[kBlockRows * kBlockCols];
  for (int l = 0; l < kBlockRows * kBlockCols; ++l)
    starts[l] = bins_of(task, i + l / kBlockCols, j + l % kBlockCols);
  two_bins_block(pair_of(task, i, j), task.left.stride, starts, sums);
  for (int l = 0; l < kBlockRows * kBlockCols; ++l)
    settle(task, i + l / kBlockCols, j + l % kBlockCols, sums[l]);
}

// Decides what is open in 4 rows and 2 columns: as one block where that is cheaper.
void settle_open(const Task& task, const Chunk& chunk, std::int64_t i, std::int64_t j) {
  const std::uint8_t* open = chunk.open.data() + (i - chunk.begin) / kBlockRows * task.c.cols + j;
  const bool whole = j + 1 < task.c.cols && i + kBlockRows <= chunk.end && task.exact_products;
  if (whole && std::popcount(open[0]) + std::popcount(open[1]) > 3) return settle_block(task, i, j);
  for (std::int64_t l = 0; l < kBlockCols && j + l < task.c.cols; ++l)
    for (int r = 0; r < kBlockRows; ++r)
      if (i + r < chunk.end && (open[l] >> r & 1)) settle_one(task, i + r, j + l);
}

// The first 8 columns from j on, of 4 rows, that are all decided are passed over at once.
void settle_panel(const Task& task, const Chunk& chunk, std::int64_t i, Share cols) {
  const std::uint8_t* open = chunk.open.data() + (i - chunk.begin) / kBlockRows * task.c.cols;
  for (std::int64_t j = cols.begin; j < cols.end; j += 8) {
    const std::int64_t end = std::min(j + 8, cols.end);
    std::uint64_t any = 0;
    std::memcpy(&any, open + j, end - j);
    if (any == 0) continue;
    for (std::int64_t k = j; k < end; k += kBlockCols) settle_open(task, chunk, i, k);
  }
}

}  // namespace

Sum2 two_bins(const Task& task, std::int64_t i, std::int64_t j) {
  return two_bins(pair_of(task, i, j), bins_of(task, i, j));
}

void settle_chunk(const Task& task, const Chunk& chunk) {
  for (std::int64_t panel = 0; panel < task.c.cols; panel += kPanel)
    for (std::int64_t i = chunk.begin; i < chunk.end; i += kBlockRows)
      settle_panel(task, chunk, i, {panel, std::min(panel + kPanel, task.c.cols)});
}

}  // namespace plumb
