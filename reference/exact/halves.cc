#include "reference/exact/halves.h"

#include <algorithm>
#include <cmath>

#include "reference/exact/blas.h"
#include "reference/exact/parallel.h"
#include "reference/exact/task.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr double kHigh = 0x1p20;                         // units
constexpr std::int64_t kRows = 512, kCols = 4 * kBlock;  // whose halves are multiplied at a time

// Rows [begin, begin + count) of the lines, halved.
Rows halves_of(const Lines& lines, Share rows, Half half, double* to) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    halve(lines.row(i), lines.stride, lines.unit[i], half, to + (i - rows.begin) * lines.stride);
  return {to, rows.end - rows.begin, lines.stride, lines.stride};
}

// The ends around sum + rest, equal where the rest is zero; far apart where the halves prove nothing.
PLUMB_CLONES void ends_of_sums(const double* sum, const double* rest, const double* reaches, Ends& ends) {
  for (std::int64_t j = 0; j < ends.count; ++j) {
    const double e = rest[j] == 0 ? 0 : std::fabs(sum[j]) * 0x1p-52;
    const bool proved = reaches[j] < kReach;
    ends.low[j] = proved ? sum[j] - e + 0.0 : -1;
    ends.high[j] = proved ? sum[j] + e + 0.0 : 1;
  }
}

// Of a row and some columns.
void round_sums(const Task& task, std::int64_t i, Share cols, const Products& products, Chunk& chunk) {
  double sum[kBlock], rest[kBlock], reaches[kBlock];
  Ends ends;
  ends.i = i, ends.j = cols.begin, ends.count = cols.end - cols.begin;
  join(products, ends.count, sum, rest);
  const double own = reach(task.left.ratio[i], task.left.stride);
  for (std::int64_t l = 0; l < ends.count; ++l)
    reaches[l] = own * reach(task.right.ratio[ends.j + l], task.left.stride);
  ends_of_sums(sum, rest, reaches, ends);
  round_ends(task, ends, false, chunk);
}

void multiply_tile(const Task& task, Share rows, Share cols, Chunk& chunk) {
  const std::int64_t height = rows.end - rows.begin, width = cols.end - cols.begin;
  double *left = chunk.room, *right = left + height * task.left.stride,
         *first = right + width * task.left.stride;
  double* products[] = {first, first + height * width, first + 2 * height * width};
  for (Half half : {Half::high, Half::low, Half::both})
    dgemm()(halves_of(task.left, rows, half, left), halves_of(task.right, cols, half, right),
            products[static_cast<int>(half)], width);
  for (std::int64_t at = 0; at < height * width; at += std::min(kBlock, width - at % width)) {
    const std::int64_t i = rows.begin + at / width, j = cols.begin + at % width;
    const Share block{j, std::min(j + kBlock, cols.end)};
    round_sums(task, i, block, {products[0] + at, products[1] + at, products[2] + at}, chunk);
  }
}

}  // namespace

double reach(double ratio, std::int64_t length) {
  const double low = std::sqrt(static_cast<double>(length)) * (kHigh / 2);
  return (ratio / kHigh + low / kHigh + low) * (1 + 0x1p-40);
}

// Added to 1.5 * 2^52 times what it is to be a multiple of, a number is rounded to that.
PLUMB_CLONES void halve(const double* row, std::int64_t length, double unit, Half half, double* to) {
  const double round = 0x1.8p52 * kHigh * unit;
  const double high_part = half == Half::low ? 0 : 1 / kHigh, low_part = half == Half::high ? 0 : 1;
  for (std::int64_t k = 0; k < length; ++k) {
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

std::int64_t doubles_for_halves(const Matrix& a, const Matrix& columns) {
  const std::int64_t rows = std::min(kRows, a.rows), cols = std::min(kCols, columns.rows);
  return rows * cols * 3 + (rows + cols) * ((a.cols + 7) & -8);
}

void multiply_halves(const Task& task, Chunk& chunk) {
  for (std::int64_t i = chunk.begin; i < chunk.end; i += kRows)
    for (std::int64_t j = 0; j < task.c.cols; j += kCols)
      multiply_tile(task, {i, std::min(i + kRows, chunk.end)}, {j, std::min(j + kCols, task.c.cols)}, chunk);
}

}  // namespace plumb
