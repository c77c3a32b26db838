// The scales against exact rationals (GMP) and correctly rounded quotients (MPFR), over every bf16 magnitude.
#include "reference/meaning/scale.h"

#include <gmp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/words/testing/mpfr_judge.h"

namespace plumb {
namespace {

constexpr DType kCodes[] = {DType::f8e4m3, DType::f8e5m2};
constexpr double kInf = std::numeric_limits<double>::infinity();

// Every finite bf16 magnitude.
template <class Run>
void each_magnitude(Run&& run) {
  for (std::uint64_t bits = 0; bits < 0x7f80; ++bits) run(decode(DType::bf16, bits));
}

// A rational number, from a double.
struct Ratio {
  mpq_t q;
  explicit Ratio(double value) { mpq_init(q), mpq_set_d(q, value); }
  ~Ratio() { mpq_clear(q); }
  Ratio(const Ratio&) = delete;
  Ratio& operator=(const Ratio&) = delete;
};

// Whether amax <= largest * 2^exponent.
bool fits(double amax, double largest, int exponent) {
  Ratio a(amax), l(largest);
  if (exponent > 0)
    mpq_mul_2exp(l.q, l.q, exponent);
  else
    mpq_div_2exp(l.q, l.q, -exponent);
  return mpq_cmp(a.q, l.q) <= 0;
}

// Whether a code fits and the one below does not; 254 where none fits.
bool smallest_that_fits(int code, double amax, DType codes) {
  const auto code_fits = [&](int c) { return c >= 254 || fits(amax, format(codes).largest, c - 127); };
  return code >= 0 && code <= 254 && code_fits(code) && (code == 0 || !code_fits(code - 1));
}

double quotient_in_f32(double a, double b) {
  const Format& f32 = format(DType::f32);
  Real x(a), y(b);
  mpfr_div(x.x, x.x, y.x, MPFR_RNDN);  // 4800 bits: no tie of 24 bits is made or lost
  return nearest(f32, x);
}

TEST(BlockScale, IsTheSmallestThatFitsOfEveryMagnitude) {
  for (DType codes : kCodes)
    each_magnitude([&](double amax) {
      const int code = block_scale(amax, codes);
      ASSERT_TRUE(smallest_that_fits(code, amax, codes)) << amax << " " << code;
    });
}

TEST(BlockScale, TheTable) {
  const struct {
    double amax;
    int exponent;  // rounding up; rounding down differs where the mantissa is above 1.75
  } rows[] = {
      {1.0,      -8  },
      {1.5,      -8  },
      {1.75,     -8  },
      {1.76,     -7  },
      {150,      -1  },
      {448,      0   },
      {449,      1   },
      {480,      1   },
      {512,      1   },
      {0x1p-140, -127},
      {0x1p127,  119 },
  };
  for (const auto& row : rows)
    EXPECT_EQ(block_scale(row.amax, DType::f8e4m3), row.exponent + 127) << row.amax;
  EXPECT_EQ(block_scale(57344, DType::f8e5m2), 127);
  EXPECT_EQ(block_scale(57345, DType::f8e5m2), 128);
  EXPECT_EQ(block_scale(0, DType::f8e4m3), 0);
  EXPECT_EQ(block_scale(kInf, DType::f8e4m3), 0xfe);
  EXPECT_EQ(block_scale(std::nan(""), DType::f8e4m3), 0xff);
}

// The product with the rounded 1/448, which kernels compute, gives the same code for every bf16 magnitude
// whose scale is a normal number.
TEST(BlockScale, AsTheReciprocalGivesIt) {
  for (DType codes : kCodes)
    each_magnitude([&](double amax) {
      const float product = static_cast<float>(amax) * (1.0f / static_cast<float>(format(codes).largest));
      int exponent = 0;
      if (product < 0x1p-126f) return;
      if (std::frexp(product, &exponent) == 0.5f) --exponent;
      ASSERT_EQ(block_scale(amax, codes), exponent + 127) << amax;
    });
}

TEST(CurrentScale, IsTheRoundedQuotientOfEveryMagnitude) {
  for (DType codes : kCodes)
    each_magnitude([&](double amax) {
      const double largest = format(codes).largest;
      const double want =
          amax == 0 ? 1 : std::min(quotient_in_f32(largest, amax), format(DType::f32).largest);
      ASSERT_EQ(current_scale(amax, codes), want) << amax;
    });
  for (double amax : {0.0, kInf, std::nan("")}) {
    EXPECT_EQ(current_scale(amax, DType::f8e4m3), 1);
    EXPECT_EQ(next_scale(amax, 3, DType::f8e4m3), 3);
  }
  EXPECT_EQ(current_scale(0x1p-130, DType::f8e4m3), format(DType::f32).largest);
}

// value * scale rounded to f32, clipped, rounded to the code: each step by MPFR.
std::uint64_t judged_code(DType codes, double value, double scale) {
  Real product(0);
  add_product(product, value, scale);
  double scaled = nearest(format(DType::f32), product);
  const double largest = format(codes).largest;
  scaled = std::min(std::max(scaled, -largest), largest);
  const double rounded = nearest(format(codes), Real(scaled));
  return encode(codes, rounded == 0 && std::signbit(value) ? -0.0 : rounded);
}

TEST(Code, OfEveryValueIsRoundedTwiceAndClipped) {
  for (DType codes : kCodes)
    for (double scale : {1.0, 448.0, 0x1.c71c72p+3, 0x1p-20, 0x1.fffffep40, 0x1.5p100})
      each_magnitude([&](double magnitude) {
        for (double value : {magnitude, -magnitude})
          ASSERT_EQ(code(codes, value, scale), judged_code(codes, value, scale)) << value << " * " << scale;
      });
  EXPECT_EQ(code(DType::f8e4m3, 1e30, 1), 0x7e);   // 448, not NaN
  EXPECT_EQ(code(DType::f8e5m2, -1e30, 1), 0xfb);  // -57344, not an infinity
  EXPECT_EQ(code(DType::f8e4m3, -1e-30, 1), 0x80);
  EXPECT_TRUE(std::isnan(decode(DType::f8e4m3, code(DType::f8e4m3, std::nan(""), 1))));
}

// OCP OFP8 1.0: largest, smallest normal, smallest subnormal.
TEST(Code, TheFormats) {
  const struct {
    DType dtype;
    double largest, normal, subnormal;
  } rows[] = {
      {DType::f8e4m3, 448,     0x1p-6,   0x1p-9  },
      {DType::f8e5m2, 57344,   0x1p-14,  0x1p-16 },
      {DType::e8m0,   0x1p127, 0x1p-127, 0x1p-127},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(format(row.dtype).largest, row.largest);
    EXPECT_EQ(std::ldexp(1.0, format(row.dtype).min_exponent), row.normal);
    EXPECT_EQ(decode(row.dtype, row.dtype == DType::e8m0 ? 0 : 1), row.subnormal);
  }
}

}  // namespace
}  // namespace plumb
