// Law: products, sums, means and extremes of drawn data, of every mixture of kinds, dtypes, shapes and views,
// are the real number, rounded once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "reference/exact/testing/hard_inputs.h"
#include "reference/exact/testing/matmul_judge.h"

namespace plumb {
namespace {

struct Draw {
  std::mt19937_64 bits;
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class T>
  T of(const std::vector<T>& list) {
    return list[below(std::ssize(list))];
  }
};

void set(Tensor& t, std::int64_t i, std::uint64_t bits) {
  store(t.dtype, t.bytes.data() + i * format(t.dtype).bytes, bits);
}

// Each row is of a kind; some elements are the largest, the smallest, zeros, infinite or none at all.
Tensor mixed(Draw& draw, DType dtype, std::int64_t rows, std::int64_t cols) {
  Tensor t = zeros(dtype, {rows, cols});
  const std::vector<Hard> kinds(std::begin(kHard), std::end(kHard));
  Hard kind = draw.of(kinds);
  const bool each = draw.one_in(2);
  const double shift = draw.one_in(3) && !format(dtype).integer
                           ? std::ldexp(1.0, 8 * static_cast<int>(draw.below(9)) - 32)
                           : 1;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (each) kind = draw.of(kinds);
    for (std::int64_t j = 0; j < cols; ++j)
      set(t, i * cols + j, encode(dtype, shift * decode(dtype, hard_element(kind, dtype, draw.bits))));
  }
  const Format& f = format(dtype);
  const bool finite = draw.one_in(2);
  const double least = std::ldexp(1.0, f.min_exponent - f.digits + 1);
  const std::vector<double> special = {0.0,
                                       -0.0,
                                       f.largest,
                                       -f.largest,
                                       least,
                                       -least,
                                       1.0,
                                       finite ? 1.0 : INFINITY,
                                       finite ? 1.0 : -INFINITY,
                                       finite ? 1.0 : NAN};
  if (rows * cols > 0 && draw.one_in(2))
    for (std::int64_t n = 1 + draw.below(6); n > 0; --n)
      set(t, draw.below(rows * cols), encode(dtype, draw.of(special)));
  return t;
}

DType draw_float(Draw& draw) {
  return draw.of<DType>(
      {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32, DType::f32, DType::f64});
}
DType draw_integer(Draw& draw) { return draw.of<DType>({DType::s8, DType::s32}); }

// A view of rows x cols over a tensor: as it is, transposed, backwards, or of one row again and again.
Matrix viewed(Draw& draw, Tensor& t, std::int64_t rows, std::int64_t cols, DType dtype) {
  const bool transposed = draw.one_in(2);
  t = transposed ? mixed(draw, dtype, cols, rows) : mixed(draw, dtype, rows, cols);
  Matrix m = transposed ? transpose(matrix(t)) : matrix(t);
  const int bytes = format(dtype).bytes;
  if (draw.one_in(5) && rows > 0) m.data += (rows - 1) * m.row_stride * bytes, m.row_stride = -m.row_stride;
  if (draw.one_in(5) && cols > 0) m.data += (cols - 1) * m.col_stride * bytes, m.col_stride = -m.col_stride;
  if (draw.one_in(8)) m.row_stride = 0;
  return m;
}

TEST(Drawn, ProductsAreRoundedOnce) {
  Draw draw{std::mt19937_64(1)};
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t m = draw.of<std::int64_t>({0, 1, 2, 3, 4, 5, 8, 9, 13, 24}),
                       n = draw.of<std::int64_t>({0, 1, 2, 3, 4, 7, 8, 11, 20});
    const std::int64_t k = draw.of<std::int64_t>({0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, 100, 257});
    const bool integers = draw.one_in(4);
    const DType in = integers ? draw_integer(draw) : draw_float(draw);
    const DType other = integers ? draw_integer(draw) : draw.one_in(2) ? in : draw_float(draw);
    const DType out = draw.one_in(8)               ? draw_integer(draw)
                      : integers && draw.one_in(2) ? draw_integer(draw)
                                                   : draw_float(draw);
    Tensor left, right;
    const Matrix a = viewed(draw, left, m, k, in), b = viewed(draw, right, k, n, other);
    const DType acc = integers && format(out).integer ? out : DType::f32;
    ASSERT_EQ(wrong(a, b, product(a, b, acc, out)), 0)
        << i << ": " << m << "x" << k << "x" << n << " " << format(in).name << " " << format(other).name
        << " " << format(out).name;
  }
}

// As numbers of the accumulate type, which wrap first.
TEST(Drawn, IntegersWrapAsTheyAreAccumulated) {
  Draw draw{std::mt19937_64(2)};
  for (int i = 0; i < 60; ++i) {
    const std::int64_t m = 1 + draw.below(20), n = 1 + draw.below(20), k = draw.below(70);
    Tensor left, right;
    const Matrix a = viewed(draw, left, m, k, draw_integer(draw)),
                 b = viewed(draw, right, k, n, draw_integer(draw));
    const DType out = draw_float(draw);
    for (const DType acc : {DType::s8, DType::s32}) {
      const Tensor wrapped = product(a, b, acc, acc), got = product(a, b, acc, out);
      for (std::int64_t e = 0; e < m * n; ++e)
        ASSERT_EQ(bits(got, e), encode(out, value(wrapped, e))) << i << " " << format(out).name;
    }
  }
}

struct Stacked {
  Tensor parts;
  std::int64_t count = 0, size = 0;
};

Stacked stacked(Draw& draw, DType dtype) {
  const std::int64_t count = draw.of<std::int64_t>({1, 2, 3, 4, 5, 8, 9, 17, 40}),
                     size = draw.of<std::int64_t>({0, 1, 3, 8, 31, 100});
  Stacked s{mixed(draw, dtype, count, size), count, size};
  // Pairs that cancel, all of them or all but the last.
  if (draw.one_in(3) && !format(dtype).integer)
    for (std::int64_t p = 0; p + 1 < count; p += 2)
      for (std::int64_t i = 0; i < size; ++i)
        set(s.parts, (p + 1) * size + i, encode(dtype, -value(s.parts, p * size + i)));
  return s;
}

TEST(Drawn, SumsAreRoundedOnce) {
  Draw draw{std::mt19937_64(3)};
  for (int i = 0; i < 1500; ++i) {
    const DType in = draw.one_in(4) ? draw_integer(draw) : draw_float(draw);
    const DType out = draw.one_in(2) ? in : draw.one_in(6) ? draw_integer(draw) : draw_float(draw);
    const Stacked s = stacked(draw, in);
    const Tensor got = sum_parts(s.parts, out);
    for (std::int64_t e = 0; e < s.size; ++e) {
      Real exact;
      bool minus = !format(in).integer;
      for (std::int64_t p = 0; p < s.count; ++p) {
        const double part = value(s.parts, p * s.size + e);
        add(exact, part), minus = minus && part == 0 && std::signbit(part);
      }
      if (minus && !format(out).integer && out != DType::e8m0) {
        ASSERT_TRUE(value(got, e) == 0 && std::signbit(value(got, e))) << i << " at " << e;
      } else {
        ASSERT_TRUE(right(out, exact, bits(got, e)))
            << i << " " << format(in).name << " " << format(out).name << " at " << e << " of " << s.count;
      }
    }
  }
}

TEST(Drawn, MeansAreRoundedOnce) {
  Draw draw{std::mt19937_64(4)};
  for (int i = 0; i < 400; ++i) {
    const DType in = draw_float(draw),
                out = draw.of<DType>({DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32});
    const Stacked s = stacked(draw, in);
    const std::int64_t n = draw.of<std::int64_t>({1, 2, 3, 4, 5, 6, 7, 12, 96, 1000});
    const Tensor got = mean_parts(s.parts, n, out);
    for (std::int64_t e = 0; e < s.size; ++e) {
      Real exact;
      for (std::int64_t p = 0; p < s.count; ++p) add(exact, value(s.parts, p * s.size + e));
      const bool zero = mpfr_zero_p(exact.x);
      mpfr_div_ui(exact.x, exact.x, static_cast<unsigned long>(n), MPFR_RNDN);
      ASSERT_TRUE(right(out, exact, bits(got, e)) || (zero && value(got, e) == 0))
          << i << " " << format(in).name << " " << format(out).name << " over " << n << " at " << e;
    }
  }
}

TEST(Drawn, ExtremesAreOneOfTheParts) {
  Draw draw{std::mt19937_64(5)};
  for (int i = 0; i < 400; ++i) {
    const DType dtype = draw.one_in(3) ? draw_integer(draw) : draw_float(draw);
    const Stacked s = stacked(draw, dtype);
    for (const bool largest : {true, false}) {
      const Tensor got = extreme_parts(s.parts, largest ? Extreme::largest : Extreme::smallest);
      for (std::int64_t e = 0; e < s.size; ++e) {
        std::uint64_t want = bits(s.parts, e);
        bool nan = std::isnan(value(s.parts, e));
        for (std::int64_t p = 1; p < s.count; ++p) {
          const std::uint64_t other = bits(s.parts, p * s.size + e);
          const double a = decode(dtype, want), b = decode(dtype, other);
          nan = nan || std::isnan(b);
          const bool above = b > a || (b == a && std::signbit(a) && !std::signbit(b));
          const bool below = b < a || (b == a && std::signbit(b) && !std::signbit(a));
          if (largest ? above : below) want = other;
        }
        if (nan)
          ASSERT_TRUE(std::isnan(value(got, e))) << i;
        else
          ASSERT_EQ(bits(got, e), want) << i << " " << format(dtype).name << " at " << e;
      }
    }
  }
}

}  // namespace
}  // namespace plumb
