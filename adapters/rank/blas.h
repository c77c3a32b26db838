// Products of matrices by a library, where there is one.
#pragma once

#include <cstdint>

namespace plumb {

struct ProductSize {
  std::int64_t m, n, k;
};

// Rows of elements, `step` apart.
template <class T>
struct MatrixRows {
  T* at;
  std::int64_t step;
};

// c[m,n] += a[m,k] b[k,n], each sum in an order of the library's, with one rounding a term; false, and
// nothing is done, where there is no OpenBLAS, or a loop is as fast.
bool multiply_by_blas(const ProductSize&, MatrixRows<const float> a, MatrixRows<const float> b,
                      MatrixRows<float> c);
bool multiply_by_blas(const ProductSize&, MatrixRows<const double> a, MatrixRows<const double> b,
                      MatrixRows<double> c);

}  // namespace plumb
