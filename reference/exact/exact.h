// Exact sums and products, rounded once.
//
// Every result is the real number that the operands define, rounded once to the nearest value of the
// result's dtype, ties to even (encode's rules of overflow). A NaN operand, the sum of opposite
// infinities and 0 times infinity give NaN; an infinity else stays. A sum that is exactly zero is +0,
// unless every term of sum_parts is -0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/words/tensor.h"

namespace plumb {

// A strided view of a matrix over the bytes of a tensor. Strides are in elements and may be 0 or
// negative; the element (0, 0) is at `data`.
struct Matrix {
  const std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 0, col_stride = 1;
};

struct MutableMatrix {
  std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 0, col_stride = 1;
};

inline std::byte* at(const MutableMatrix& c, std::int64_t i, std::int64_t j) {
  return c.data + (i * c.row_stride + j * c.col_stride) * format(c.dtype).bytes;
}

// The whole of a tensor of rank 2, and the transpose of a view.
Matrix matrix(const Tensor&);
MutableMatrix mutable_matrix(Tensor&);
inline Matrix transpose(const Matrix& m) {
  return {m.data, m.dtype, m.cols, m.rows, m.col_stride, m.row_stride};
}

// c[m,n] = a[m,k] b[k,n]. Where both operands and `acc` are integers the sum wraps modulo 2^8 or
// 2^32 as `acc` says before it is converted; else `acc` has no influence. k = 0 gives zeros. c must not
// overlap a or b.
void matmul(const Matrix& a, const Matrix& b, DType acc, const MutableMatrix& c);

// [P, n...] -> [n...]: the sum over the leading dimension, rounded once to `out`; integers wrap.
Tensor sum_parts(const Tensor& parts, DType out);

// The same sum divided by n > 0, rounded once (to f64 perhaps the other neighbour of a near tie). For
// floating point.
Tensor mean_parts(const Tensor& parts, std::int64_t n, DType out);

// [P, n...] -> [n...], P > 0: the largest or smallest over the leading dimension, in its own bits; NaN
// where a part is NaN; +0 is larger than -0.
enum class Extreme : std::uint8_t { largest, smallest };
Tensor extreme_parts(const Tensor& parts, Extreme);

}  // namespace plumb
