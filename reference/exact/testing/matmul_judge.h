// The judge of matmul, and hard operands, for tests.
#pragma once

#include <utility>
#include <vector>

#include "reference/exact/exact.h"
#include "reference/exact/testing/hard_inputs.h"
#include "reference/words/testing/mpfr_judge.h"

namespace plumb {

inline double element(const Matrix& m, std::int64_t i, std::int64_t j) {
  const std::int64_t at = i * m.row_stride + j * m.col_stride;
  return decode(m.dtype, load(m.dtype, m.data + at * format(m.dtype).bytes));
}

// How many of every `step`-th element of c are not the dot product, rounded once.
inline std::int64_t wrong(const Matrix& a, const Matrix& b, const Tensor& c, std::int64_t step = 1) {
  std::int64_t bad = 0;
  for (std::int64_t at = 0; at < elements(c.shape); at += step) {
    const std::int64_t i = at / c.shape[1], j = at % c.shape[1];
    Real exact;
    for (std::int64_t k = 0; k < a.cols; ++k) add_product(exact, element(a, i, k), element(b, k, j));
    bad += !right(c.dtype, exact, bits(c, at));
  }
  return bad;
}

inline Tensor product(const Matrix& a, const Matrix& b, DType acc, DType out) {
  Tensor c = zeros(out, {a.rows, b.cols});
  matmul(a, b, acc, mutable_matrix(c));
  return c;
}

struct ProductShape {
  std::int64_t m, k, n;
};

struct Operands {
  Tensor a, b;
};

inline Operands hard_operands(Hard kind, DType dtype, const ProductShape& s, std::uint64_t seed) {
  Operands o{hard_tensor(kind, dtype, {s.m, s.k}, seed), hard_tensor(kind, dtype, {s.k, s.n}, seed + 1)};
  if (kind == Hard::cancelling) cancel_pairs(o.a, o.b, seed);
  return o;
}

}  // namespace plumb
