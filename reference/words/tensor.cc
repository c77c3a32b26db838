#include "reference/words/tensor.h"

#include <cassert>
#include <cstring>

namespace plumb {

std::int64_t elements(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (std::int64_t size : shape) n *= size;
  return n;
}

std::vector<std::int64_t> strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> steps(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    steps[d] = step;
    step *= shape[d];
  }
  return steps;
}

Tensor zeros(DType dtype, std::vector<std::int64_t> shape) {
  const std::int64_t n = elements(shape) * format(dtype).bytes;
  return {dtype, std::move(shape), std::vector<std::byte>(n)};
}

Tensor tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Tensor t = zeros(dtype, std::move(shape));
  assert(std::ssize(values) == elements(t.shape));
  encode(dtype, values.data(), std::ssize(values), t.bytes.data());
  return t;
}

void cut(std::span<const std::int64_t> shape, const Slice& slice, const std::byte* whole, std::byte* block,
         int element_bytes) {
  each_run(shape, slice, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
    std::memcpy(block + to * element_bytes, whole + from * element_bytes, count * element_bytes);
  });
}

void paste(std::span<const std::int64_t> shape, const Slice& slice, const std::byte* block, std::byte* whole,
           int element_bytes) {
  each_run(shape, slice, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
    std::memcpy(whole + to * element_bytes, block + from * element_bytes, count * element_bytes);
  });
}

}  // namespace plumb
