// Whole, dense, row-major values on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/words/spec.h"

namespace plumb {

struct Tensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  bool operator==(const Tensor&) const = default;
};

// A tensor of zero bits; one of these values, each rounded to the dtype.
Tensor zeros(DType, std::vector<std::int64_t> shape);
Tensor tensor(DType, std::vector<std::int64_t> shape, const std::vector<double>& values);

std::int64_t elements(std::span<const std::int64_t> shape);
std::vector<std::int64_t> strides(std::span<const std::int64_t> shape);  // row-major, in elements

inline std::uint64_t bits(const Tensor& t, std::int64_t i) {
  return load(t.dtype, t.bytes.data() + i * format(t.dtype).bytes);
}
inline double value(const Tensor& t, std::int64_t i) { return decode(t.dtype, bits(t, i)); }

// A hash of dtype, shape and bits, by position: the same on every machine.
std::uint64_t digest(const Tensor&);

// Calls run(whole, part, count) for each contiguous run of `slice`: `count` elements that begin at
// element `whole` of an array of `shape` and at element `part` of the dense block cut from it.
template <class Run>
void each_run(std::span<const std::int64_t> shape, const Slice& slice, Run&& run);

// The dense block that `slice` cuts from a whole array, and its inverse.
void cut(std::span<const std::int64_t> shape, const Slice& slice, const std::byte* whole, std::byte* block,
         int element_bytes);
void paste(std::span<const std::int64_t> shape, const Slice& slice, const std::byte* block, std::byte* whole,
           int element_bytes);

template <class Run>
void each_run(std::span<const std::int64_t> shape, const Slice& slice, Run&& run) {
  const int rank = static_cast<int>(shape.size());
  if (elements(slice) == 0) return;
  // Trailing dimensions that are taken whole join the run.
  int outer = rank;
  std::int64_t count = 1, stride = 1;
  while (outer > 0) {
    --outer;
    count *= slice[outer].size();
    stride *= shape[outer];
    if (slice[outer].size() != shape[outer]) break;
  }
  std::int64_t first = 0, step = 1;
  for (int d = rank - 1; d >= 0; --d) first += slice[d].begin * step, step *= shape[d];
  std::vector<std::int64_t> at(outer, 0), steps(outer);
  for (int d = outer - 1; d >= 0; --d) steps[d] = stride, stride *= shape[d];
  for (std::int64_t part = 0;; part += count) {
    run(first, part, count);
    int d = outer - 1;
    for (; d >= 0; --d) {
      first += steps[d];
      if (++at[d] < slice[d].size()) break;
      first -= at[d] * steps[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace plumb
