#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "reference/exact/halves.h"
#include "reference/exact/parallel.h"
#include "reference/exact/task.h"

namespace plumb {
namespace {

void settle(const Task& task, std::int64_t i, std::int64_t j, const Sum2& sum) {
  std::uint64_t bits;
  const Pair pair{task.left.row(i), task.right.row(j), task.left.stride};
  if (!decide(task.c.dtype, sum, bits)) bits = dot_slowly(task.c.dtype, pair);
  store(task.c.dtype, at(task.c, i, j), bits);
}

Bins bins_of(const Task& task, std::int64_t i, std::int64_t j) {
  const double bound = task.left.norm[i] * task.right.norm[j] * (1 + 0x1p-50);
  const double ratio = task.left.ratio[i] * task.right.ratio[j] * (1 + 0x1p-50);
  return bins(bound, ratio, task.left.stride);
}

void settle_one(const Task& task, std::int64_t i, std::int64_t j) {
  const Pair pair{task.left.row(i), task.right.row(j), task.left.stride};
  if (task.exact_products) return settle(task, i, j, two_bins(pair, bins_of(task, i, j)));
  settle(task, i, j, compensated(pair, task.left.norm[i] * task.right.norm[j]));
}

void settle_block(const Task& task, std::int64_t i, std::int64_t j) {
  Bins starts[kBlockRows * kBlockCols];
  Sum2 sums[kBlockRows * kBlockCols];
  for (int l = 0; l < kBlockRows * kBlockCols; ++l)
    starts[l] = bins_of(task, i + l / kBlockCols, j + l % kBlockCols);
  two_bins_block({task.left.row(i), task.right.row(j), task.left.stride}, task.left.stride, starts, sums);
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

// Whether halves prove the element; otherwise whether one dgemm would.
struct Proofs {
  bool whole, halves;
};

Proofs proofs_of(const Task& task, std::int64_t i, std::int64_t j) {
  const DType dtype = task.c.dtype;
  const double ratio = task.left.ratio[i], other = task.right.ratio[j];
  const Sum2 sum = two_bins({task.left.row(i), task.right.row(j), task.left.stride}, bins_of(task, i, j));
  const double value = sum.hi + sum.lo, e = gamma(task.left.depth) * task.left.norm[i] * task.right.norm[j];
  const bool close = format(dtype).digits <= 24;  // of doubles the last bit is not known without the rest
  return {ratio * other < 0x1p53 || encode(dtype, value - e) == encode(dtype, value + e),
          close && reach(ratio, task.left.stride) * reach(other, task.left.stride) < kReach};
}

}  // namespace

double gamma(std::int64_t depth) {
  const double n = static_cast<double>(depth + 3) * 0x1p-53;
  return n / (1 - n) * (1 + 0x1p-40);
}

Way best_way(const Task& task) {
  if (!task.exact_products) return Way::whole;
  constexpr int samples = 48;
  int whole = 0, halves = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const Proofs proofs = proofs_of(task, s * 2654435761 % task.c.rows, s * 40503 % task.c.cols);
    whole += proofs.whole, halves += proofs.halves;
  }
  return whole >= samples / 2 ? Way::whole : halves >= samples / 2 ? Way::halves : Way::bins;
}

void round_ends(const Task& task, const Ends& ends, bool sure, Chunk& chunk) {
  const DType dtype = task.c.dtype;
  const int bytes = format(dtype).bytes;
  std::byte low_bits[8 * kBlock], high_bits[8 * kBlock];
  const bool dense = task.c.col_stride == 1;
  std::byte* low = dense ? at(task.c, ends.i, ends.j) : low_bits;
  encode(dtype, ends.low, ends.count, low);
  if (!sure) encode(dtype, ends.high, ends.count, high_bits);
  if (!dense)
    for (std::int64_t l = 0; l < ends.count; ++l)
      store(dtype, at(task.c, ends.i, ends.j + l), load(dtype, low + l * bytes));
  if (sure || std::memcmp(low, high_bits, ends.count * bytes) == 0) return;
  const std::int64_t row = ends.i - chunk.begin;
  std::uint8_t* open = chunk.open.data() + row / kBlockRows * task.c.cols + ends.j;
  for (std::int64_t l = 0; l < ends.count; ++l)
    if (load(dtype, low + l * bytes) != load(dtype, high_bits + l * bytes))
      open[l] |= static_cast<std::uint8_t>(1 << row % kBlockRows);
}

void settle_chunk(const Task& task, const Chunk& chunk) {
  for (std::int64_t panel = 0; panel < task.c.cols; panel += kPanel)
    for (std::int64_t i = chunk.begin; i < chunk.end; i += kBlockRows)
      settle_panel(task, chunk, i, {panel, std::min(panel + kPanel, task.c.cols)});
}

}  // namespace plumb
