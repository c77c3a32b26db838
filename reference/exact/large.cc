#include "reference/exact/large.h"

#include <algorithm>

#include "reference/exact/bins.h"
#include "reference/exact/method.h"
#include "reference/exact/parallel.h"
#include "reference/exact/settle.h"
#include "reference/exact/single_dgemm.h"
#include "reference/exact/tiles.h"

namespace plumb {
namespace {

constexpr std::int64_t kProductsAThread = 1 << 21;  // products
constexpr std::int64_t kGrain = 64;                 // rows that a thread gets together
constexpr std::int64_t kScratch = 1 << 22;          // doubles of dgemm's result at a time
constexpr std::int64_t kKeep = 1 << 25;             // doubles kept for the next call

// `most` rows at a time.
std::int64_t doubles_for_chunk(const Task& task, Method method, std::int64_t most) {
  if (method == Method::bins) return 0;
  return method == Method::single_dgemm ? most * task.c.cols : doubles_for_halves(task, most);
}

void multiply_chunk(const Task& task, Method method, Chunk& chunk) {
  const std::int64_t rows = chunk.end - chunk.begin;
  chunk.open.assign((rows + kBlockRows - 1) / kBlockRows * task.c.cols, method == Method::bins ? 15 : 0);
  if (method == Method::single_dgemm) multiply_by_single_dgemm(task, chunk);
  if (method == Method::halves) multiply_halves(task, chunk);
  settle_chunk(task, chunk);
}

}  // namespace

void multiply_large(const Matrix& a, const Matrix& b, const MutableMatrix& c) {
  thread_local Scratch for_lines, for_chunks;
  const Matrix columns = transpose(b);
  const int threads = a.rows * a.cols * b.cols < kProductsAThread ? 1 : cores();
  double* room = reserve(for_lines, doubles_for(a) + doubles_for(columns));
  Lines left = lines_for(a, room), right = lines_for(columns, room + doubles_for(a));
  parallel(threads, [&](int index) {
    const Share rows = share(left.count, threads, index, kGrain);
    const Share cols = share(right.count, threads, index, kGrain);
    read_lines(a, rows.begin, rows.end, left);
    read_lines(columns, cols.begin, cols.end, right);
  });
  const bool exact_products = format(a.dtype).digits + format(b.dtype).digits <= 53;
  const bool may_overflow = a.dtype == DType::f64 || b.dtype == DType::f64;
  const Task task{left, right, c, exact_products, may_overflow};
  const Method method = method_of(task);
  const std::int64_t share_rows = (a.rows / threads / kGrain + 1) * kGrain;
  const std::int64_t most = std::min(share_rows, std::max(kGrain, kScratch / c.cols & -kGrain));
  const std::int64_t each = doubles_for_chunk(task, method, most);
  double* rooms = reserve(for_chunks, threads * each);
  parallel(threads, [&](int index) {
    const Share rows = share(left.count, threads, index, kGrain);
    for (std::int64_t i = rows.begin; i < rows.end; i += most) {
      Chunk chunk{i, std::min(i + most, rows.end), rooms + index * each, {}};
      multiply_chunk(task, method, chunk);
    }
  });
  if (for_lines.size > kKeep) for_lines = {};
  if (for_chunks.size > kKeep) for_chunks = {};
}

}  // namespace plumb
