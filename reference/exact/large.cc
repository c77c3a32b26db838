#include "reference/exact/large.h"

#include <algorithm>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "reference/exact/blas.h"
#include "reference/exact/dot.h"
#include "reference/exact/lines.h"
#include "reference/exact/parallel.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr std::int64_t kWorthAThread = 1 << 21;  // products
constexpr std::int64_t kBlock = 512;             // columns rounded at a time
constexpr std::int64_t kPanel = 64;              // columns that stay in cache while all rows pass
constexpr std::int64_t kScratch = 1 << 22;       // doubles of dgemm's result at a time
constexpr double kMost = std::numeric_limits<double>::max();

struct Task {
  const Lines& left;
  const Lines& right;
  const MutableMatrix& c;
  bool exact_products;  // in double, for every pair of elements
  bool may_overflow;
};

// Some rows of the result: dgemm's values, and for each 4 rows and a column which are not yet decided.
struct Chunk {
  std::int64_t begin, end;
  double* values;
  std::vector<std::uint8_t> open;
};

std::byte* at(const MutableMatrix& c, std::int64_t i, std::int64_t j) {
  return c.data + (i * c.row_stride + j * c.col_stride) * format(c.dtype).bytes;
}

struct Ends {
  double low[kBlock], high[kBlock];
  std::byte low_bits[8 * kBlock], high_bits[8 * kBlock];
};

// Facts of row i, and of the columns it meets.
struct Row {
  double error, ratio;
  const double* norms;
  const double* ratios;
  bool may_overflow;  // sums of finite products may leave the doubles
};

// The ends of the interval around each value: equal where the value is exact. What is not finite is
// right as it is, unless it may have come from finite elements.
PLUMB_CLONES void ends_of(const double* values, std::int64_t count, const Row& row, Ends& ends) {
  for (std::int64_t j = 0; j < count; ++j) {
    const double x = values[j], e = row.error * row.norms[j];
    const bool sure = row.ratio * row.ratios[j] < 0x1p53;
    const double error = sure ? 0 : e;
    const double kept = std::fabs(x) <= kMost ? error : 0;
    const bool unknown = row.may_overflow && !(e <= kMost);
    ends.low[j] = unknown ? -1 : x - kept + 0.0;
    ends.high[j] = unknown ? 1 : x + kept + 0.0;
  }
}

// gamma_{K+3}, rounded up; the two roundings of x +- e are among the 3.
double gamma(std::int64_t depth) {
  const double n = static_cast<double>(depth + 3) * 0x1p-53;
  return n / (1 - n) * (1 + 0x1p-40);
}

void round_block(const Task& task, Chunk& chunk, std::int64_t i, std::int64_t j) {
  const std::int64_t count = std::min(kBlock, task.c.cols - j);
  const DType dtype = task.c.dtype;
  const int bytes = format(dtype).bytes;
  Ends ends;
  const Row row{gamma(task.left.depth) * task.left.norm[i], task.left.ratio[i], task.right.norm.data() + j,
                task.right.ratio.data() + j, task.may_overflow};
  ends_of(chunk.values + (i - chunk.begin) * task.c.cols + j, count, row, ends);
  const bool dense = task.c.col_stride == 1;
  std::byte* low = dense ? at(task.c, i, j) : ends.low_bits;
  encode(dtype, ends.low, count, low);
  encode(dtype, ends.high, count, ends.high_bits);
  if (!dense)
    for (std::int64_t l = 0; l < count; ++l) store(dtype, at(task.c, i, j + l), load(dtype, low + l * bytes));
  if (std::memcmp(low, ends.high_bits, count * bytes) == 0) return;
  std::uint8_t* open = chunk.open.data() + (i - chunk.begin) / kBlockRows * task.c.cols + j;
  for (std::int64_t l = 0; l < count; ++l)
    if (load(dtype, low + l * bytes) != load(dtype, ends.high_bits + l * bytes))
      open[l] |= static_cast<std::uint8_t>(1 << (i - chunk.begin) % kBlockRows);
}

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
  settle(task, i, j, task.exact_products ? two_bins(pair, bins_of(task, i, j)) : cascade(pair));
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

void settle_chunk(const Task& task, const Chunk& chunk) {
  for (std::int64_t panel = 0; panel < task.c.cols; panel += kPanel)
    for (std::int64_t i = chunk.begin; i < chunk.end; i += kBlockRows)
      for (std::int64_t j = panel; j < std::min(panel + kPanel, task.c.cols); j += kBlockCols)
        settle_open(task, chunk, i, j);
}

void multiply_chunk(const Task& task, Chunk& chunk) {
  const Lines &a = task.left, &b = task.right;
  const std::int64_t rows = chunk.end - chunk.begin;
  chunk.open.assign((rows + kBlockRows - 1) / kBlockRows * task.c.cols, 0);
  if (dgemm()) {
    dgemm()({a.row(chunk.begin), rows, a.depth, a.stride}, {b.values.get(), b.count, b.depth, b.stride},
            chunk.values, task.c.cols);
    for (std::int64_t i = chunk.begin; i < chunk.end; ++i)
      for (std::int64_t j = 0; j < task.c.cols; j += kBlock) round_block(task, chunk, i, j);
  } else {
    std::fill(chunk.open.begin(), chunk.open.end(), 15);
  }
  settle_chunk(task, chunk);
}

}  // namespace

void multiply_large(const Matrix& a, const Matrix& b, const MutableMatrix& c) {
  const Matrix columns = transpose(b);
  Lines left = lines_for(a), right = lines_for(columns);
  const bool exact_products = format(a.dtype).digits + format(b.dtype).digits <= 53;
  const bool may_overflow = a.dtype == DType::f64 || b.dtype == DType::f64;
  const Task task{left, right, c, exact_products, may_overflow};
  const int threads = a.rows * a.cols * b.cols < kWorthAThread ? 1 : cores();
  std::barrier read(threads);
  dgemm();
  parallel(threads, [&](int index) {
    const Share rows = share(left.count, threads, index, kPanel);
    const Share cols = share(right.count, threads, index, kPanel);
    read_rows(a, rows.begin, rows.end, left);
    read_rows(columns, cols.begin, cols.end, right);
    read.arrive_and_wait();
    const std::int64_t most = std::max<std::int64_t>(kPanel, kScratch / c.cols & -kPanel);
    const std::int64_t size = std::min(most, rows.end - rows.begin) * c.cols;
    const auto values = std::make_unique_for_overwrite<double[]>(size);
    for (std::int64_t i = rows.begin; i < rows.end; i += most) {
      Chunk chunk{i, std::min(i + most, rows.end), values.get(), {}};
      multiply_chunk(task, chunk);
    }
  });
}

}  // namespace plumb
