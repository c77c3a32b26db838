#include "adapters/rank/blas.h"

#include <gtest/gtest.h>

#include <vector>

namespace plumb {
namespace {

template <class T>
std::vector<T> small_integers(std::int64_t count, int seed) {
  std::vector<T> all(count);
  for (std::int64_t i = 0; i < count; ++i) all[i] = static_cast<T>((i * i + seed * i) % 19 - 9);
  return all;
}

// Of integers every order gives the same sums, which stand beside what was there, and nowhere else.
template <class T>
void expect_what_a_loop_makes(const ProductSize& s, std::int64_t apart) {
  const std::int64_t a_step = s.k + apart, b_step = s.n + 2 * apart, c_step = s.n + 3 * apart;
  const std::vector<T> a = small_integers<T>(s.m * a_step, 1), b = small_integers<T>(s.k * b_step, 2);
  std::vector<T> c = small_integers<T>(s.m * c_step, 3), want = c;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j)
      for (std::int64_t k = 0; k < s.k; ++k) want[i * c_step + j] += a[i * a_step + k] * b[k * b_step + j];
  ASSERT_TRUE(multiply_by_blas(s, MatrixRows<const T>{a.data(), a_step},
                               MatrixRows<const T>{b.data(), b_step}, MatrixRows<T>{c.data(), c_step}));
  EXPECT_EQ(c, want);
}

TEST(Blas, MultipliesAsALoopDoes) {
  for (std::int64_t apart : {0, 5}) {
    expect_what_a_loop_makes<float>({70, 90, 110}, apart);
    expect_what_a_loop_makes<double>({70, 90, 110}, apart);
  }
}

TEST(Blas, LeavesSmallProductsToTheLoop) {
  const std::vector<double> a(16, 1.0);
  std::vector<double> c(16, 0.0);
  EXPECT_FALSE(multiply_by_blas({4, 4, 4}, {a.data(), 4}, {a.data(), 4}, {c.data(), 4}));
  EXPECT_EQ(c, std::vector<double>(16, 0.0));
}

}  // namespace
}  // namespace plumb
