// Data at the edge of each proof: where it would be wrong to believe a little more. Three rows of four
// hold ones, so that most elements are easy and the dgemm is run.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "reference/exact/testing/matmul_judge.h"

namespace plumb {
namespace {

Tensor zeros_of(DType dtype, const ProductShape& s) { return zeros(dtype, {s.m, s.k}); }

void set(Tensor& t, std::int64_t i, double v) {
  store(t.dtype, t.bytes.data() + i * format(t.dtype).bytes, encode(t.dtype, v));
}

bool easy(std::int64_t row) { return row % 4 != 0; }

// Positive odd integers of `digits` bits; the first `coarse` of each row are multiples of 2^12.
Tensor odd(std::int64_t rows, std::int64_t cols, int digits, std::int64_t coarse) {
  std::mt19937_64 random(static_cast<std::uint64_t>(digits));
  Tensor t = zeros(DType::f32, {rows, cols});
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const bool fine = i % cols >= coarse;
    const int bits = fine ? digits : digits - 12;
    const double whole = std::ldexp(1, bits - 1) + static_cast<double>(random() >> (65 - bits) | 1);
    set(t, i, easy(i / cols) ? 1 : fine ? whole : std::ldexp(whole, 12));
  }
  return t;
}

Tensor in_units(double unit, Tensor t) {
  for (std::int64_t i = 0; i < elements(t.shape); ++i) set(t, i, value(t, i) * unit);
  return t;
}

// Sums of 2^47 to 2^57 units, however small: in f64 every lost bit shows.
TEST(Edges, OfTheLattice) {
  for (int digits = 19; digits <= 24; ++digits)
    for (std::int64_t coarse : {0, 64})
      for (const double unit : {1.0, 0x1p-60}) {
        const Tensor a = in_units(unit, odd(24, 1000, digits, coarse));
        const Matrix left = matrix(a), right = transpose(left);
        EXPECT_EQ(wrong(left, right, product(left, right, DType::f64, DType::f64), 2), 0)
            << digits << " " << coarse << " " << unit;
      }
}

// Positive terms of 24 bits, those of the first half as high halves alone, of `digits` bits: their sums are
// of 2^47 to 2^57 units. The other rows are such that halves are taken.
TEST(Edges, OfTheHalves) {
  const std::int64_t n = 24, depth = 1000;
  for (int digits = 18; digits <= 24; ++digits) {
    std::mt19937_64 random(static_cast<std::uint64_t>(digits));
    Tensor a = zeros(DType::f32, {n, depth});
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < depth; ++k) {
        const int bits = easy(i) || k >= depth / 2 ? 24 : digits;
        const double whole = std::ldexp(1, bits - 1) + static_cast<double>(random() >> (65 - bits) | 1);
        set(a, i * depth + k, std::ldexp(whole, easy(i) ? static_cast<int>(k % 12) : k < depth / 2 ? 20 : 0));
      }
    const Matrix left = matrix(std::as_const(a)), right = transpose(left);
    EXPECT_EQ(wrong(left, right, product(left, right, DType::f64, DType::f64)), 0) << digits;
  }
}

// 2^50 and its undoing around terms of 48 bits from 40 binades: what is cut off beside 2^50 is rounded
// itself.
TEST(Edges, OfTheBins) {
  const std::int64_t n = 24, depth = 66;
  std::mt19937_64 random(1);
  Tensor a = zeros(DType::f32, {n, depth}), b = a;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < depth; ++k) {
      const bool first = k == 0, last = k == depth - 1;
      for (Tensor* t : {&a, &b}) {
        const double term =
            std::ldexp(static_cast<double>(random() >> 40 | 1), -24 - static_cast<int>(random() % 20));
        set(*t, i * depth + k, easy(i) ? 1 : first ? 0x1p25 : last ? (t == &a ? 0x1p25 : -0x1p25) : term);
      }
    }
  const Matrix left = matrix(a), right = transpose(matrix(b));
  EXPECT_EQ(wrong(left, right, product(left, right, DType::f64, DType::f64)), 0);
}

// 2^52 and then 64 times 3/4, each of which rounds up to 1: a sum in double is 64 where 48 is right.
TEST(Edges, OfTheInterval) {
  const std::int64_t n = 24, depth = 66;
  Tensor a = zeros_of(DType::f32, {n, depth, n}), b = zeros_of(DType::f32, {n, depth, n});
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < depth; ++k) {
      const bool first = k == 0, last = k == depth - 1;
      set(a, i * depth + k, easy(i) ? 1 : first ? 0x1p26 : last ? -0x1p26 : 0.75);
      set(b, i * depth + k, easy(i) ? 1 : first || last ? 0x1p26 : 1);
    }
  const Matrix left = matrix(a), right = transpose(matrix(b));
  for (const Format& out : formats())
    EXPECT_EQ(wrong(left, right, product(left, right, DType::f32, out.dtype)), 0) << out.name;
}

// Halfway between two neighbours, and a speck that says which: with 2 terms and with 64, few and many.
TEST(Edges, OfATie) {
  for (const Format& out : formats()) {
    if (out.integer || out.bytes > 4) continue;
    for (std::int64_t depth : {2, 64})
      for (std::int64_t n : {2, 16})
        for (double speck : {0x1p-70, -0x1p-70, 0.0}) {
          Tensor a = zeros_of(DType::f32, {n, depth, n}), b = zeros_of(DType::f32, {n, depth, n});
          for (std::int64_t i = 0; i < n; ++i) {
            const double tie = std::ldexp(1, out.digits) + static_cast<double>(2 * (i % 2) + 1);
            set(a, i * depth, tie), set(b, i * depth, 1);
            set(a, i * depth + 1, speck), set(b, i * depth + 1, 1);
          }
          const Matrix left = matrix(a), right = transpose(matrix(b));
          EXPECT_EQ(wrong(left, right, product(left, right, DType::f32, out.dtype)), 0)
              << out.name << " " << speck;
        }
  }
}

// The same for sums of parts.
TEST(Edges, OfATieOfParts) {
  for (DType out : {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32})
    for (double speck : {0x1p-70, -0x1p-70}) {
      Tensor parts = zeros(DType::f64, {2, 1});
      set(parts, 0, std::ldexp(1, format(out).digits) + 1), set(parts, 1, speck);
      Real exact(value(parts, 0));
      add(exact, speck);
      EXPECT_TRUE(right(out, exact, bits(sum_parts(parts, out), 0))) << format(out).name << " " << speck;
    }
}

}  // namespace
}  // namespace plumb
