#include "reference/exact/round_interval.h"

#include <cstring>

#include "reference/exact/bins.h"

namespace plumb {

void round_intervals(const Task& task, const RoundIntervals& around, bool sure, Chunk& chunk) {
  const DType dtype = task.c.dtype;
  const int bytes = format(dtype).bytes;
  std::byte low_bits[8 * kBlock], high_bits[8 * kBlock];
  const bool dense = task.c.col_stride == 1;
  std::byte* low = dense ? at(task.c, around.i, around.j) : low_bits;
  encode(dtype, around.low, around.count, low);
  if (!sure) encode(dtype, around.high, around.count, high_bits);
  if (!dense)
    for (std::int64_t l = 0; l < around.count; ++l)
      store(dtype, at(task.c, around.i, around.j + l), load(dtype, low + l * bytes));
  if (sure || std::memcmp(low, high_bits, around.count * bytes) == 0) return;
  const std::int64_t row = around.i - chunk.begin;
  std::uint8_t* open = chunk.open.data() + row / kBlockRows * task.c.cols + around.j;
  for (std::int64_t l = 0; l < around.count; ++l)
    if (load(dtype, low + l * bytes) != load(dtype, high_bits + l * bytes))
      open[l] |= static_cast<std::uint8_t>(1 << row % kBlockRows);
}

}  // namespace plumb
