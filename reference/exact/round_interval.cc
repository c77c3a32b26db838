#include <cstring>

#include "reference/exact/task.h"

namespace plumb {

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

}  // namespace plumb
