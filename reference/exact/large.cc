#include "reference/exact/large.h"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/exact/blas.h"
#include "reference/exact/parallel.h"
#include "reference/exact/task.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr std::int64_t kWorthAThread = 1 << 21;  // products
constexpr std::int64_t kScratch = 1 << 22;       // doubles of dgemm's result at a time
constexpr std::int64_t kKeep = 1 << 25;          // doubles kept for the next call
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
PLUMB_CLONES void ends_of(const double* values, const Row& row, Ends& ends) {
  const std::int64_t count = ends.count;
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

void round_block(const Task& task, std::int64_t i, std::int64_t j, Chunk& chunk) {
  Ends ends;
  ends.i = i, ends.j = j, ends.count = std::min(kBlock, task.c.cols - j);
  const Row row{gamma(task.left.depth) * task.left.norm[i], task.left.ratio[i], task.right.norm.data() + j,
                task.right.ratio.data() + j, task.may_overflow};
  const double* values = chunk.room + (i - chunk.begin) * task.c.cols + j;
  const bool dense_f32 = task.c.dtype == DType::f32 && task.c.col_stride == 1;
  if (dense_f32 && !task.may_overflow && round_f32(values, ends.count, row, at(task.c, i, j))) return;
  ends_of(values, row, ends);
  round_ends(task, ends, row.ratio * task.most_ratio[j / kBlock] < 0x1p53, chunk);
}

void multiply_whole(const Task& task, Chunk& chunk) {
  const Lines &a = task.left, &b = task.right;
  dgemm()({a.row(chunk.begin), chunk.end - chunk.begin, a.depth, a.stride},
          {b.values, b.count, b.depth, b.stride}, chunk.room, task.c.cols);
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i)
    for (std::int64_t j = 0; j < task.c.cols; j += kBlock) round_block(task, i, j, chunk);
}

void multiply_chunk(const Task& task, Chunk& chunk) {
  const std::int64_t rows = chunk.end - chunk.begin;
  chunk.open.assign((rows + kBlockRows - 1) / kBlockRows * task.c.cols, task.way == Way::bins ? 15 : 0);
  if (task.way == Way::whole) multiply_whole(task, chunk);
  if (task.way == Way::halves) multiply_halves(task, chunk);
  settle_chunk(task, chunk);
}

void note_columns(Task& task) {
  for (std::int64_t j = 0; j < task.c.cols; j += kBlock) {
    const auto first = task.right.ratio.begin() + j;
    task.most_ratio.push_back(*std::max_element(first, first + std::min(kBlock, task.c.cols - j)));
  }
  task.way = dgemm() ? best_way(task) : Way::bins;
}

}  // namespace

void multiply_large(const Matrix& a, const Matrix& b, const MutableMatrix& c) {
  thread_local Scratch scratch;
  const Matrix columns = transpose(b);
  const int threads = a.rows * a.cols * b.cols < kWorthAThread ? 1 : cores();
  const std::int64_t share_rows = (a.rows / threads / kPanel + 1) * kPanel;
  const std::int64_t most = std::min(share_rows, std::max(kPanel, kScratch / c.cols & -kPanel));
  const std::int64_t each = std::max(most * c.cols, doubles_for_halves(a, columns));
  double* room = reserve(scratch, doubles_for(a) + doubles_for(columns) + threads * each);
  Lines left = lines_for(a, room), right = lines_for(columns, room + doubles_for(a));
  double* rooms = room + doubles_for(a) + doubles_for(columns);
  const bool exact_products = format(a.dtype).digits + format(b.dtype).digits <= 53;
  const bool may_overflow = a.dtype == DType::f64 || b.dtype == DType::f64;
  Task task{left, right, c, exact_products, may_overflow};
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
      Chunk chunk{i, std::min(i + most, rows.end), rooms + index * each, {}};
      multiply_chunk(task, chunk);
    }
  });
  if (scratch.size > kKeep) scratch = {};
}

}  // namespace plumb
