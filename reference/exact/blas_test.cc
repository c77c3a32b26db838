#include "reference/exact/blas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace plumb {
namespace {

void plain(const Rows& a, const Rows& b, double* c, std::int64_t stride) {
  for (std::int64_t i = 0; i < a.count; ++i)
    for (std::int64_t j = 0; j < b.count; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < a.depth; ++k) sum += a.data[i * a.stride + k] * b.data[j * b.stride + k];
      c[i * stride + j] = sum;
    }
}

// Quarter (i, j) of a square matrix, times a sign, added to `to`.
void add_quarter(const Rows& m, int quarter, double sign, std::vector<double>& to) {
  const std::int64_t h = m.count / 2, row = quarter / 2 * h, col = quarter % 2 * h;
  for (std::int64_t i = 0; i < h; ++i)
    for (std::int64_t k = 0; k < h; ++k) to[i * h + k] += sign * m.data[(row + i) * m.stride + col + k];
}

// One level of Strassen's algorithm: rows and columns of different scale are added up. Terms: the
// quarters of a (0 1 / 2 3) and of b transposed, with signs, and where the product goes.
void strassen(const Rows& a, const Rows& b, double* c, std::int64_t stride) {
  const std::int64_t h = a.count / 2;
  const int left[7][4] = {
      {1,  0, 0, 1 },
      {0,  0, 1, 1 },
      {1,  0, 0, 0 },
      {0,  0, 0, 1 },
      {1,  1, 0, 0 },
      {-1, 0, 1, 0 },
      {0,  1, 0, -1}
  };
  const int right[7][4] = {
      {1,  0, 0, 1 },
      {1,  0, 0, 0 },
      {0,  0, 1, -1},
      {-1, 1, 0, 0 },
      {0,  0, 0, 1 },
      {1,  0, 1, 0 },
      {0,  1, 0, 1 }
  };
  const int out[7][4] = {
      {1,  0, 0, 1 },
      {0,  0, 1, -1},
      {0,  1, 0, 1 },
      {1,  0, 1, 0 },
      {-1, 1, 0, 0 },
      {0,  0, 0, 1 },
      {1,  0, 0, 0 }
  };
  for (std::int64_t i = 0; i < 2 * h; ++i) std::fill(c + i * stride, c + i * stride + 2 * h, 0.0);
  for (int m = 0; m < 7; ++m) {
    std::vector<double> x(h * h), y(h * h), z(h * h);
    for (int q = 0; q < 4; ++q) add_quarter(a, q, left[m][q], x), add_quarter(b, q, right[m][q], y);
    plain({x.data(), h, h, h}, {y.data(), h, h, h}, z.data(), h);
    for (int q = 0; q < 4; ++q)
      for (std::int64_t i = 0; i < h * h; ++i)
        c[(q / 2 * h + i / h) * stride + q % 2 * h + i % h] += out[m][q] * z[i];
  }
}

// Products rounded to 36 bits.
void narrowed(const Rows& a, const Rows& b, double* c, std::int64_t stride) {
  for (std::int64_t i = 0; i < a.count; ++i)
    for (std::int64_t j = 0; j < b.count; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < a.depth; ++k) {
        const double product = a.data[i * a.stride + k] * b.data[j * b.stride + k],
                     wide = product * 0x20001p0;
        sum += wide - (wide - product);
      }
      c[i * stride + j] = sum;
    }
}

std::vector<bool> variables() {
  return {std::getenv("OPENBLAS_CORETYPE") != nullptr, std::getenv("OPENBLAS_NUM_THREADS") != nullptr};
}
const std::vector<bool> set_at_the_start = variables();  // by whoever runs the test

TEST(Blas, StrassenIsStrassen) {
  std::vector<double> a(64), b(64), c(64), d(64);
  for (int i = 0; i < 64; ++i) a[i] = i % 7 - 3, b[i] = i % 11 - 5;
  strassen({a.data(), 8, 8, 8}, {b.data(), 8, 8, 8}, c.data(), 8);
  plain({a.data(), 8, 8, 8}, {b.data(), 8, 8, 8}, d.data(), 8);
  EXPECT_EQ(c, d);
}

TEST(Blas, TheSelfTestKnowsSumsOfExactProducts) {
  EXPECT_TRUE(sums_exact_products(plain, 64));
  EXPECT_FALSE(sums_exact_products(strassen, 64));
  EXPECT_FALSE(sums_exact_products(narrowed, 64));
}

// The backends that a run starts inherit its environment.
TEST(Blas, NoVariableIsLeftBehind) {
  ASSERT_NE(dgemm(), nullptr);
  EXPECT_EQ(variables(), set_at_the_start);
}

TEST(Blas, TheLibraryIsTrusted) {
  std::cout << dgemm_name() << "\n";
  const std::string name = dgemm_name(), known = name.substr(0, name.find(','));
  EXPECT_TRUE(known.starts_with("OpenBLAS ")) << known;
  EXPECT_EQ(std::ranges::count(known, ' '), 2) << known << ": the library, its version, the kind of core";
  ASSERT_NE(dgemm(), nullptr);
  for (std::int64_t size : {1, 2, 7, 33, 128, 700}) EXPECT_TRUE(sums_exact_products(dgemm(), size)) << size;
}

}  // namespace
}  // namespace plumb
