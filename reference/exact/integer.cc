#include "reference/exact/integer.h"

#include <vector>

#include "reference/exact/parallel.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr std::int64_t kIntegerProductsAThread = 1 << 22;  // products

// The elements row-major as 32-bit words; signs are extended, so that arithmetic modulo 2^32 is right.
std::vector<std::uint32_t> words(const Matrix& m) {
  std::vector<std::uint32_t> out(m.rows * m.cols);
  const int bytes = format(m.dtype).bytes;
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t k = 0; k < m.cols; ++k) {
      const std::uint64_t bits = load(m.dtype, m.data + (i * m.row_stride + k * m.col_stride) * bytes);
      out[i * m.cols + k] = m.dtype == DType::s8 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(bits))
                                                 : static_cast<std::uint32_t>(bits);
    }
  return out;
}

PLUMB_CLONES void add_row(std::uint32_t* sum, std::uint32_t factor, const std::uint32_t* row,
                          std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) sum[j] += factor * row[j];
}

void store_row(const std::uint32_t* sum, std::int64_t i, DType acc, const MutableMatrix& c) {
  const int bytes = format(c.dtype).bytes;
  for (std::int64_t j = 0; j < c.cols; ++j)
    store(c.dtype, c.data + (i * c.row_stride + j * c.col_stride) * bytes,
          encode(c.dtype, decode(acc, sum[j] & (acc == DType::s8 ? 0xffu : 0xffffffffu))));
}

}  // namespace

void multiply_integers(const Matrix& a, const Matrix& b, DType acc, const MutableMatrix& c) {
  const std::vector<std::uint32_t> left = words(a), right = words(b);
  const int threads = a.rows * a.cols * b.cols < kIntegerProductsAThread ? 1 : cores();
  parallel(threads, [&](int index) {
    std::vector<std::uint32_t> sum(c.cols);
    const Share mine = share(c.rows, threads, index);
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      std::fill(sum.begin(), sum.end(), 0);
      for (std::int64_t k = 0; k < a.cols; ++k)
        add_row(sum.data(), left[i * a.cols + k], right.data() + k * b.cols, b.cols);
      store_row(sum.data(), i, acc, c);
    }
  });
}

}  // namespace plumb
