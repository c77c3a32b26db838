#include <cassert>

#include "reference/exact/dot.h"
#include "reference/exact/exact.h"
#include "reference/exact/ieee.h"
#include "reference/exact/integer.h"
#include "reference/exact/large.h"
#include "reference/exact/lines.h"

namespace plumb {
namespace {

// Every dot by itself: for few elements, where nothing else pays.
void dots(const Matrix& a, const Matrix& b, const MutableMatrix& c) {
  const Matrix columns = transpose(b);
  Lines left = lines_for(a), right = lines_for(columns);
  read_lines(a, 0, a.rows, left);
  read_lines(columns, 0, columns.rows, right);
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j) {
      const Pair pair{left.row(i), right.row(j), left.stride};
      std::uint64_t bits;
      if (!rounded_once(c.dtype, cascade(pair), bits) &&
          !rounded_once(c.dtype, compensated(pair, left.norm[i] * right.norm[j]), bits))
        bits = dot_slowly(c.dtype, pair);
      store(c.dtype, at(c, i, j), bits);
    }
}

// Whether integer sums are exact in double and encode's wrapping is the one that is wanted.
bool exact_in_double(const Matrix& a, const Matrix& b, DType acc, const MutableMatrix& c) {
  const bool narrow = a.dtype == DType::s8 && b.dtype == DType::s8 && a.cols < std::int64_t{1} << 38;
  return narrow && format(c.dtype).integer && format(c.dtype).bytes <= format(acc).bytes;
}

}  // namespace

Matrix matrix(const Tensor& t) {
  assert(t.shape.size() == 2);
  return {t.bytes.data(), t.dtype, t.shape[0], t.shape[1], t.shape[1], 1};
}

MutableMatrix mutable_matrix(Tensor& t) {
  assert(t.shape.size() == 2);
  return {t.bytes.data(), t.dtype, t.shape[0], t.shape[1], t.shape[1], 1};
}

void matmul(const Matrix& a, const Matrix& b, DType acc, const MutableMatrix& c) {
  assert(a.cols == b.rows && c.rows == a.rows && c.cols == b.cols);
  const IeeeMode mode;
  const bool large = a.rows * a.cols * b.cols >= kLarge;
  const bool integer = format(a.dtype).integer && format(b.dtype).integer && format(acc).integer;
  if (integer && !(large && exact_in_double(a, b, acc, c))) return multiply_integers(a, b, acc, c);
  // An interval says nothing of an element that wraps.
  large && (integer || !format(c.dtype).integer) ? multiply_large(a, b, c) : dots(a, b, c);
}

}  // namespace plumb
