#include "reference/words/tensor.h"

#include <algorithm>
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

std::uint64_t digest(const Tensor& t) {
  std::uint64_t hash = 0xcbf29ce484222325 + static_cast<std::uint64_t>(t.dtype);
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  for (const std::int64_t size : t.shape) add(static_cast<std::uint64_t>(size));
  for (std::size_t at = 0; at < t.bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, t.bytes.data() + at, std::min<std::size_t>(8, t.bytes.size() - at));
    add(word);
  }
  return hash;
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
