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
constexpr std::int64_t kBlock = 256;             // columns rounded at a time
constexpr std::int64_t kPanel = 64;              // columns that stay in cache while all rows pass
constexpr std::int64_t kScratch = 1 << 22;       // doubles of dgemm's result at a time
constexpr std::int64_t kKeep = 1 << 25;          // doubles kept for the next call
constexpr double kMost = std::numeric_limits<double>::max();

struct Task {
  const Lines& left;
  const Lines& right;
  const MutableMatrix& c;
  bool exact_products;  // in double, for every pair of elements
  bool may_overflow;
  std::vector<double> most_ratio;  // of each block of columns
  bool skip_dgemm = false;
};

// Some rows of the result: dgemm's values, and for each 4 rows and a column which are not yet decided.
struct Chunk {
  std::int64_t begin, end;
  double* values;
  std::vector<std::uint8_t> open;
};

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
  const double row_error = row.error, row_ratio = row.ratio;
  const double *norms = row.norms, *ratios = row.ratios;
  for (std::int64_t j = 0; j < count; ++j) {
    const double x = values[j], e = row_error * norms[j];
    const double error = row_ratio * ratios[j] < 0x1p53 ? 0 : e;
    const double kept = std::fabs(x) <= kMost ? error : 0;
    ends.low[j] = x - kept + 0.0;
    ends.high[j] = x + kept + 0.0;
  }
  if (!row.may_overflow) return;
  for (std::int64_t j = 0; j < count; ++j)
    if (!(row_error * norms[j] <= kMost)) ends.low[j] = -1, ends.high[j] = 1;
}

// gamma_{K+3}, rounded up; the two roundings of x +- e are among the 3.
double gamma(std::int64_t depth) {
  const double n = static_cast<double>(depth + 3) * 0x1p-53;
  return n / (1 - n) * (1 + 0x1p-40);
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

void round_block(const Task& task, Chunk& chunk, std::int64_t i, std::int64_t j) {
  const std::int64_t count = std::min(kBlock, task.c.cols - j);
  const DType dtype = task.c.dtype;
  const int bytes = format(dtype).bytes;
  Ends ends;
  const Row row{gamma(task.left.depth) * task.left.norm[i], task.left.ratio[i], task.right.norm.data() + j,
                task.right.ratio.data() + j, task.may_overflow};
  const double* values = chunk.values + (i - chunk.begin) * task.c.cols + j;
  const bool dense = task.c.col_stride == 1;
  if (dtype == DType::f32 && dense && !task.may_overflow && round_f32(values, count, row, at(task.c, i, j)))
    return;
  ends_of(values, count, row, ends);
  const bool sure = row.ratio * task.most_ratio[j / kBlock] < 0x1p53;
  std::byte* low = dense ? at(task.c, i, j) : ends.low_bits;
  encode(dtype, ends.low, count, low);
  if (!sure) encode(dtype, ends.high, count, ends.high_bits);
  if (!dense)
    for (std::int64_t l = 0; l < count; ++l) store(dtype, at(task.c, i, j + l), load(dtype, low + l * bytes));
  if (sure || std::memcmp(low, ends.high_bits, count * bytes) == 0) return;
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

void settle_chunk(const Task& task, const Chunk& chunk) {
  for (std::int64_t panel = 0; panel < task.c.cols; panel += kPanel)
    for (std::int64_t i = chunk.begin; i < chunk.end; i += kBlockRows)
      settle_panel(task, chunk, i, {panel, std::min(panel + kPanel, task.c.cols)});
}

void multiply_chunk(const Task& task, Chunk& chunk) {
  const Lines &a = task.left, &b = task.right;
  const std::int64_t rows = chunk.end - chunk.begin;
  chunk.open.assign((rows + kBlockRows - 1) / kBlockRows * task.c.cols, task.skip_dgemm ? 15 : 0);
  if (!task.skip_dgemm) {
    dgemm()({a.row(chunk.begin), rows, a.depth, a.stride}, {b.values, b.count, b.depth, b.stride},
            chunk.values, task.c.cols);
    for (std::int64_t i = chunk.begin; i < chunk.end; ++i)
      for (std::int64_t j = 0; j < task.c.cols; j += kBlock) round_block(task, chunk, i, j);
  }
  settle_chunk(task, chunk);
}

// Whether the dgemm would leave most elements open, as under massive cancellation: seen on a sample.
bool mostly_open(const Task& task) {
  if (!task.exact_products) return false;
  constexpr int samples = 48;
  int open = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const std::int64_t i = s * 2654435761 % task.c.rows, j = s * 40503 % task.c.cols;
    if (task.left.ratio[i] * task.right.ratio[j] < 0x1p53) continue;
    const Sum2 sum = two_bins({task.left.row(i), task.right.row(j), task.left.stride}, bins_of(task, i, j));
    const double value = sum.hi + sum.lo, e = gamma(task.left.depth) * task.left.norm[i] * task.right.norm[j];
    open += encode(task.c.dtype, value - e) != encode(task.c.dtype, value + e);
  }
  return open > samples / 2;
}

void note_columns(Task& task) {
  for (std::int64_t j = 0; j < task.c.cols; j += kBlock) {
    const auto first = task.right.ratio.begin() + j;
    task.most_ratio.push_back(*std::max_element(first, first + std::min(kBlock, task.c.cols - j)));
  }
  task.skip_dgemm = !dgemm() || mostly_open(task);
}

}  // namespace

void multiply_large(const Matrix& a, const Matrix& b, const MutableMatrix& c) {
  thread_local Scratch scratch;
  const Matrix columns = transpose(b);
  const int threads = a.rows * a.cols * b.cols < kWorthAThread ? 1 : cores();
  const std::int64_t share_rows = (a.rows / threads / kPanel + 1) * kPanel;
  const std::int64_t most = std::min(share_rows, std::max(kPanel, kScratch / c.cols & -kPanel));
  double* room = reserve(scratch, doubles_for(a) + doubles_for(columns) + threads * most * c.cols);
  Lines left = lines_for(a, room), right = lines_for(columns, room + doubles_for(a));
  double* values = room + doubles_for(a) + doubles_for(columns);
  const bool exact_products = format(a.dtype).digits + format(b.dtype).digits <= 53;
  const bool may_overflow = a.dtype == DType::f64 || b.dtype == DType::f64;
  Task task{left, right, c, exact_products, may_overflow, {}};
  std::barrier ready(threads);
  parallel(threads, [&](int index) {
    const Share rows = share(left.count, threads, index, kPanel);
    const Share cols = share(right.count, threads, index, kPanel);
    read_rows(a, rows.begin, rows.end, left);
    read_rows(columns, cols.begin, cols.end, right);
    ready.arrive_and_wait();
    if (index == 0) note_columns(task);
    ready.arrive_and_wait();
    for (std::int64_t i = rows.begin; i < rows.end; i += most) {
      Chunk chunk{i, std::min(i + most, rows.end), values + index * most * c.cols, {}};
      multiply_chunk(task, chunk);
    }
  });
  if (scratch.size > kKeep) scratch = {};
}

}  // namespace plumb
