#include <cassert>
#include <cmath>
#include <memory>
#include <numeric>

#include "reference/exact/accumulator.h"
#include "reference/exact/exact.h"
#include "reference/exact/ieee.h"
#include "reference/exact/parallel.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr std::int64_t kAtATime = 1024;          // elements at a time, so that all buffers stay in cache
constexpr std::int64_t kTermsAThread = 1 << 18;  // terms

// Sums of a block of elements: value + rest is exact where `lost` is zero.
struct Sums {
  double value[kAtATime], rest[kAtATime], lost[kAtATime], next[kAtATime];
};

// Each addition leaves its rounding error in rest (Knuth's TwoSum); what even rest cannot hold, and
// every NaN, shows in lost.
PLUMB_CLONES void add_next(Sums& s, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = s.value[i], b = s.next[i], sum = a + b, part = sum - a;
    const double error = (a - (sum - part)) + (b - part);
    const double old = s.rest[i], rest = old + error, piece = rest - old;
    s.value[i] = sum;
    s.rest[i] = rest;
    s.lost[i] += std::fabs((old - (rest - piece)) + (error - piece));
  }
}

std::uint64_t sum_slowly(const Tensor& parts, std::int64_t element, DType out) {
  const std::int64_t count = parts.shape[0], size = elements(parts.shape) / count;
  Accumulator sum;
  for (std::int64_t p = 0; p < count; ++p) add(sum, value(parts, p * size + element));
  return rounded(out, sum);
}

void sum_block(const Tensor& parts, std::int64_t begin, std::int64_t count, Tensor& result) {
  const std::int64_t size = elements(result.shape);
  const int bytes = format(parts.dtype).bytes, out_bytes = format(result.dtype).bytes;
  Sums s;
  decode(parts.dtype, parts.bytes.data() + begin * bytes, count, s.value);
  for (std::int64_t i = 0; i < count; ++i) s.rest[i] = s.lost[i] = 0;
  for (std::int64_t p = 1; p < parts.shape[0]; ++p) {
    decode(parts.dtype, parts.bytes.data() + (p * size + begin) * bytes, count, s.next);
    add_next(s, count);
  }
  const bool plain = format(result.dtype).integer || result.dtype == DType::f64;
  double trouble = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    trouble += s.lost[i] + (plain ? std::fabs(s.rest[i]) : 0);
    if (!plain && s.rest[i] != 0) s.value[i] = to_odd(s.value[i], s.rest[i]);
  }
  std::byte* to = result.bytes.data() + begin * out_bytes;
  encode(result.dtype, s.value, count, to);
  if (trouble == 0) return;
  for (std::int64_t i = 0; i < count; ++i)
    if (!(s.lost[i] == 0) || (plain && s.rest[i] != 0))
      store(result.dtype, to + i * out_bytes, sum_slowly(parts, begin + i, result.dtype));
}

}  // namespace

Tensor sum_parts(const Tensor& parts, DType out) {
  assert(!parts.shape.empty());
  const IeeeMode mode;
  Tensor result = zeros(out, {parts.shape.begin() + 1, parts.shape.end()});
  const std::int64_t size = elements(result.shape);
  if (parts.shape[0] == 0) return result;
  if (parts.shape[0] == 1 && parts.dtype == out) {
    result.bytes = parts.bytes;
    return result;
  }
  const int threads = parts.shape[0] * size < kTermsAThread ? 1 : cores();
  parallel(threads, [&](int index) {
    const Share mine = share(size, threads, index, kAtATime);
    for (std::int64_t i = mine.begin; i < mine.end; i += kAtATime)
      sum_block(parts, i, std::min(kAtATime, mine.end - i), result);
  });
  return result;
}

}  // namespace plumb
