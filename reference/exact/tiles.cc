#include "reference/exact/tiles.h"

#include <algorithm>
#include <cmath>

#include "reference/exact/blas.h"
#include "reference/exact/halves.h"
#include "reference/exact/parallel.h"
#include "reference/exact/round_interval.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr std::int64_t kRows = 512, kCols = 4 * kBlock;  // of a tile

Rows halves_of(const Lines& lines, Share rows, Half half, double* to) {
  const std::int64_t length = lines.stride;
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    halve({lines.row(i), lines.row(i) + length}, lines.unit[i], half, to + (i - rows.begin) * length);
  return {to, rows.end - rows.begin, length, length};
}

// What is known of some elements of a row; `reach` of the row, `reaches` of the columns.
struct RunningSums {
  double sum[kBlock], rest[kBlock];
  double reach;
  const double* reaches;
};

// |rest| is at most |sum| 2^-53, and as much is left for the rounding of the ends. The nearest double needs
// none. Where nothing is proved the ends lie far apart.
PLUMB_CLONES void intervals_of_sums(const RunningSums& sums, bool to_double, RoundIntervals& around) {
  const double part = to_double ? 0 : 0x1p-52;
  for (std::int64_t j = 0; j < around.count; ++j) {
    const double sum = sums.sum[j], e = sums.rest[j] == 0 ? 0 : std::fabs(sum) * part;
    const bool proved = sums.reach * sums.reaches[j] < kProved;
    around.low[j] = proved ? sum - e + 0.0 : -1;
    around.high[j] = proved ? sum + e + 0.0 : 1;
  }
}

struct Tile {
  Share rows, cols;
  double* products[3];  // of each row and column: high, low, both
};

void multiply_tile(const Task& task, const Tile& tile, double* room) {
  double *left = room, *right = room + (tile.rows.end - tile.rows.begin) * task.left.stride;
  for (Half half : {Half::high, Half::low, Half::both})
    dgemm()(halves_of(task.left, tile.rows, half, left), halves_of(task.right, tile.cols, half, right),
            tile.products[static_cast<int>(half)], tile.cols.end - tile.cols.begin);
}

void round_tile(const Task& task, const Tile& tile, const std::vector<double>& reaches, Chunk& chunk) {
  RunningSums sums;
  RoundIntervals around;
  for (std::int64_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    sums.reach = reach(task.left.ratio[i], task.left.stride);
    for (std::int64_t j = tile.cols.begin; j < tile.cols.end; j += kBlock) {
      const std::int64_t width = tile.cols.end - tile.cols.begin;
      const std::int64_t at = (i - tile.rows.begin) * width + j - tile.cols.begin;
      around.i = i, around.j = j, around.count = std::min(kBlock, tile.cols.end - j);
      sums.reaches = reaches.data() + j;
      join({tile.products[0] + at, tile.products[1] + at, tile.products[2] + at}, around.count, sums.sum,
           sums.rest);
      intervals_of_sums(sums, task.c.dtype == DType::f64, around);
      round_intervals(task, around, false, chunk);
    }
  }
}

}  // namespace

std::int64_t doubles_for_halves(const Task& task, std::int64_t rows) {
  rows = std::min(kRows, rows);
  const std::int64_t cols = std::min(kCols, task.c.cols);
  return 3 * rows * cols + (rows + cols) * task.left.stride;
}

void multiply_halves(const Task& task, Chunk& chunk) {
  std::vector<double> reaches;
  for (double ratio : task.right.ratio) reaches.push_back(reach(ratio, task.right.stride));
  for (std::int64_t i = chunk.begin; i < chunk.end; i += kRows)
    for (std::int64_t j = 0; j < task.c.cols; j += kCols) {
      const Share rows{i, std::min(i + kRows, chunk.end)}, cols{j, std::min(j + kCols, task.c.cols)};
      const std::int64_t size = (rows.end - rows.begin) * (cols.end - cols.begin);
      const Tile tile{
          rows, cols, {chunk.room, chunk.room + size, chunk.room + 2 * size}
      };
      multiply_tile(task, tile, chunk.room + 3 * size);
      round_tile(task, tile, reaches, chunk);
    }
}

}  // namespace plumb
