#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/exact/ieee.h"
#include "reference/exact/testing/matmul_judge.h"

namespace plumb {
namespace {

bool floating(const Format& f) { return !f.integer; }

TEST(Matmul, IsRoundedOnceForEveryDType) {
  for (const Format& in : formats())
    for (const Format& out : formats())
      for (Hard kind : kHard) {
        if (in.dtype == DType::e8m0 && kind == Hard::cancelling) continue;
        const Operands o = hard_operands(kind, in.dtype, {5, 19, 7}, 1);
        const Matrix a = matrix(o.a), b = matrix(o.b);
        ASSERT_EQ(wrong(a, b, product(a, b, DType::f32, out.dtype)), 0)
            << in.name << " " << out.name << " " << name(kind);
      }
}

// Large enough for the tiers of the fast path.
TEST(Matmul, IsRoundedOnceWhenLarge) {
  for (const Format& in : formats())
    for (DType out : {in.dtype, DType::f32})
      for (Hard kind : kHard) {
        if (!floating(in) || (in.dtype == DType::e8m0 && kind == Hard::cancelling)) continue;
        const Operands o = hard_operands(kind, in.dtype, {67, 130, 83}, 2);
        const Matrix a = matrix(o.a), b = matrix(o.b);
        ASSERT_EQ(wrong(a, b, product(a, b, DType::f32, out), 23), 0)
            << in.name << " " << format(out).name << " " << name(kind);
      }
}

// 1 + 2^-24 lies between two numbers of f32, and the tie goes down; 2^-70 more, which a sum of doubles loses,
// is above it. One row is so, the others are small integers.
TEST(Matmul, ATieThatDoublesSeeIsNone) {
  constexpr std::int64_t n = 64, columns = 130;
  std::vector<double> rows(n * n, 3);
  std::fill_n(rows.begin(), n, 0);
  rows[0] = 1, rows[1] = 0x1p-24, rows[2] = 0x1p-70;
  const Tensor a = tensor(DType::f32, {n, n}, rows);
  const Tensor b = tensor(DType::f32, {n, columns}, std::vector<double>(n * columns, 1.0));
  const Tensor c = product(matrix(a), matrix(b), DType::f32, DType::f32);
  for (std::int64_t i = 0; i < n * columns; ++i)
    ASSERT_EQ(value(c, i), i < columns ? 1 + 0x1p-23 : 3 * n) << i;
}

// A sum of 54 bits that a double rounds to a tie of 9: what proves sums by their lattice stops before. One
// row and one column are so, the others are ones.
TEST(Matmul, ASumOfABitMoreThanADoubleHas) {
  constexpr std::int64_t n = 64;
  for (int tie = 257; tie < 512; tie += 2) {
    std::vector<double> rows(n * 2, 1), columns(n * 2, 1);
    rows[0] = std::ldexp(tie, 22), columns[0] = 0x1p23;
    const Tensor a = tensor(DType::f32, {n, 2}, rows), b = tensor(DType::f32, {n, 2}, columns);
    const Tensor c = product(matrix(a), transpose(matrix(b)), DType::f32, DType::bf16);
    ASSERT_EQ(value(c, 0), std::ldexp(tie + 1, 45)) << tie;
  }
}

TEST(Matmul, MixedDTypes) {
  const Tensor a = hard_tensor(Hard::normal, DType::bf16, {70, 65}, 3);
  for (const Format& f : formats()) {
    const Tensor b = hard_tensor(Hard::normal, f.dtype, {65, 66}, 4);
    ASSERT_EQ(wrong(matrix(a), matrix(b), product(matrix(a), matrix(b), DType::f32, DType::bf16)), 0)
        << f.name;
  }
}

TEST(Matmul, EveryShapeAndStride) {
  for (const ProductShape s : {
           ProductShape{1,   1,   1  },
           {1,   300, 1  },
           {3,   0,   2  },
           {0,   4,   4  },
           {1,   64,  200},
           {200, 64,  1  },
           {67,  9,   131}
  }) {
    const Operands o = hard_operands(Hard::normal, DType::f32, s, 5);
    const Operands t = hard_operands(Hard::normal, DType::f32, {s.k, s.m, s.k}, 6);
    const Matrix a = matrix(o.a), b = matrix(o.b), turned = transpose(matrix(t.a));
    ASSERT_EQ(wrong(a, b, product(a, b, DType::f32, DType::f32)), 0) << s.m << " " << s.k << " " << s.n;
    ASSERT_EQ(wrong(turned, b, product(turned, b, DType::f32, DType::f32)), 0)
        << s.m << " " << s.k << " " << s.n;
  }
  // A view with both strides, a broadcast row, and a result stored by columns.
  const Tensor big = hard_tensor(Hard::normal, DType::bf16, {140, 210}, 7);
  const Matrix a{big.bytes.data(), DType::bf16, 70, 70, 420, 3};
  const Matrix b{big.bytes.data(), DType::bf16, 70, 66, 0, 1};
  Tensor c = zeros(DType::f32, {66, 70});
  matmul(a, b, DType::f32, {c.bytes.data(), DType::f32, 70, 66, 1, 70});
  Tensor turned = zeros(DType::f32, {70, 66});
  matmul(a, b, DType::f32, mutable_matrix(turned));
  ASSERT_EQ(wrong(a, b, turned), 0);
  for (std::int64_t i = 0; i < 70; ++i)
    for (std::int64_t j = 0; j < 66; ++j) ASSERT_EQ(bits(c, j * 70 + i), bits(turned, i * 66 + j));
}

TEST(Matmul, IntegersWrapAsAccSays) {
  for (const ProductShape shape : {
           ProductShape{9,  40,  11},
           ProductShape{20, 600, 17}
  })
    for (DType in : {DType::s8, DType::s32}) {
      const Operands o = hard_operands(Hard::patterns, in, shape, 8);
      for (DType acc : {DType::s8, DType::s32}) {
        std::vector<double> wrapped;
        for (std::int64_t at = 0; at < shape.m * shape.n; ++at) {
          Real exact;
          for (std::int64_t k = 0; k < shape.k; ++k)
            add_product(exact, value(o.a, at / shape.n * shape.k + k),
                        value(o.b, k * shape.n + at % shape.n));
          wrapped.push_back(nearest_integer(format(acc), exact));
        }
        for (const Format& out : formats()) {
          const Tensor c = product(matrix(o.a), matrix(o.b), acc, out.dtype);
          for (std::int64_t at = 0; at < elements(c.shape); ++at)
            ASSERT_TRUE(right(out.dtype, Real(wrapped[at]), bits(c, at)))
                << format(in).name << " " << out.name;
        }
      }
    }
}

TEST(Matmul, WhatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  for (DType d : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (std::int64_t n : {4, 80}) {
      Operands o = hard_operands(Hard::normal, d, {n, n, n}, 9);
      const auto set = [&](Tensor& t, std::int64_t i, std::int64_t j, double v) {
        store(d, t.bytes.data() + (i * n + j) * format(d).bytes, encode(d, v));
      };
      set(o.a, 1, 0, inf), set(o.a, 2, 1, inf - inf), set(o.a, 3, 0, inf), set(o.a, 3, 1, -inf);
      set(o.b, 0, 0, 2), set(o.b, 1, 0, 2), set(o.b, 0, 1, 0), set(o.b, 2, 2, -inf), set(o.a, 0, 2, 3);
      const Tensor c = product(matrix(o.a), matrix(o.b), DType::f32, d);
      EXPECT_EQ(value(c, n), inf);                   // inf * 2
      EXPECT_TRUE(std::isnan(value(c, n + 1)));      // inf * 0
      EXPECT_TRUE(std::isnan(value(c, 2 * n + 3)));  // NaN
      EXPECT_TRUE(std::isnan(value(c, 3 * n)));      // inf * 2 - inf * 2
      EXPECT_EQ(value(c, 2), -inf);                  // 3 * -inf
      EXPECT_TRUE(std::isfinite(value(c, 3)));
      for (std::int64_t i = 4; i < n; ++i) EXPECT_TRUE(std::isfinite(value(c, i * n + 3)));
    }
  }
}

#if defined(__SSE2__)
// A library that flushes subnormals must not reach the result; the mode is put back.
TEST(Matmul, StandsOnItsOwnFloatingPointMode) {
  const Tensor a = hard_tensor(Hard::subnormal, DType::f32, {80, 80}, 10);
  const Tensor b = hard_tensor(Hard::integers, DType::f32, {80, 80}, 11);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0xe040);
  const Tensor c = product(matrix(a), matrix(b), DType::f32, DType::f32);
  const Tensor s = sum_parts(a, DType::f32);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after & 0xe040, 0xe040u);
  EXPECT_EQ(wrong(matrix(a), matrix(b), c), 0);
  EXPECT_EQ(s, sum_parts(a, DType::f32));
}
#endif

TEST(Matmul, TheJudgeSeesALastBit) {
  const Operands o = hard_operands(Hard::normal, DType::bf16, {20, 30, 10}, 12);
  Tensor c = product(matrix(o.a), matrix(o.b), DType::f32, DType::bf16);
  EXPECT_EQ(wrong(matrix(o.a), matrix(o.b), c), 0);
  c.bytes[2 * 137] ^= std::byte{1};
  EXPECT_EQ(wrong(matrix(o.a), matrix(o.b), c), 1);
}

}  // namespace
}  // namespace plumb
