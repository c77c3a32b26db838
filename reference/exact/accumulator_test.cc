#include "reference/exact/accumulator.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "reference/words/testing/mpfr_judge.h"

namespace plumb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Terms = std::vector<std::pair<double, double>>;  // products

// Rounds the exact sum of products to every dtype and asks MPFR; the name of the first that is wrong.
// `flip` plants an error in the last bit.
std::string wrong(const Terms& terms, std::uint64_t flip = 0) {
  Accumulator a;
  Real exact;
  for (const auto& [x, y] : terms) add_product(a, x, y), add_product(exact, x, y);
  for (const Format& f : formats())
    if (!right(f.dtype, exact, rounded(f.dtype, a) ^ flip)) return std::string(f.name);
  return "";
}

struct Random {
  std::mt19937_64 engine;
  // Any finite double with an exponent in [low, high].
  double value(int low, int high) {
    const double fraction = 1 + std::ldexp(static_cast<double>(engine() >> 12), -52);
    const int exponent = low + static_cast<int>(engine() % (high - low + 1));
    return std::ldexp(engine() & 1 ? fraction : -fraction, exponent);
  }
};

TEST(Accumulator, AgreesWithMpfrOnEveryRangeOfExponents) {
  Random random{std::mt19937_64(1)};
  const std::pair<int, int> ranges[] = {
      {-3,    3    },
      {-40,   40   },
      {-1074, 1023 },
      {-1074, -1000},
      {1000,  1023 },
      {-75,   -60  }
  };
  for (const auto& [low, high] : ranges) {
    for (int i = 0; i < 400; ++i) {
      Terms terms;
      for (int k = 0; k < 1 + i % 17; ++k)
        terms.push_back({random.value(low, high), random.value(low, high)});
      ASSERT_EQ(wrong(terms), "") << low << ".." << high << " case " << i;
    }
  }
}

TEST(Accumulator, AgreesUnderMassiveCancellation) {
  Random random{std::mt19937_64(2)};
  for (int i = 0; i < 1000; ++i) {
    Terms terms;
    for (int k = 0; k < 8; ++k) {
      const double x = random.value(-500, 500), y = random.value(-500, 500);
      terms.push_back({x, y}), terms.push_back({-x, y});
    }
    const int at = static_cast<int>(random.engine() % 1000) - 500;
    terms.push_back({random.value(at, at), 1});
    std::shuffle(terms.begin(), terms.end(), random.engine);
    ASSERT_EQ(wrong(terms), "") << i;
  }
}

// Midpoints between neighbours of each format, exactly and with a bit far below on either side.
TEST(Accumulator, AgreesOnTiesAndSubnormals) {
  Random random{std::mt19937_64(3)};
  for (const Format& f : formats()) {
    for (int i = 0; i < 600; ++i) {
      const int span = f.max_exponent - f.min_exponent + f.digits + 4;
      const int unit = f.min_exponent - f.digits - 1 + static_cast<int>(random.engine() % span);
      const double odd = static_cast<double>((random.engine() >> (64 - f.digits)) | 1);
      const double sign = i % 2 ? 1 : -1;
      Terms tie = {
          {std::ldexp(odd, unit / 2), std::ldexp(sign, unit - unit / 2 - 1)}
      };
      ASSERT_EQ(wrong(tie), "") << f.name;
      for (double speck : {0x1p-700, -0x1p-700}) {
        Terms near = tie;
        near.push_back({speck, std::fabs(tie[0].first)});
        ASSERT_EQ(wrong(near), "") << f.name;
      }
    }
  }
}

TEST(Accumulator, NothingIsLostWhenCarriesWait) {
  Accumulator a;
  Real exact;
  for (int i = 0; i < 300000; ++i) add_product(a, -0x1.fffffffffffffp1000, 0x1.fffffffffffffp1023);
  add_product(exact, -0x1.fffffffffffffp1000, 0x1.fffffffffffffp1023);
  mpfr_mul_ui(exact.x, exact.x, 300000, MPFR_RNDN);
  for (int i = 0; i < 300000; ++i) add_product(a, 0x1.fffffffffffffp1000, 0x1.ffffffffffffep1023);
  Real back;
  add_product(back, 0x1.fffffffffffffp1000, 0x1.ffffffffffffep1023);
  mpfr_mul_ui(back.x, back.x, 300000, MPFR_RNDN);
  mpfr_add(exact.x, exact.x, back.x, MPFR_RNDN);
  for (const Format& f : formats()) EXPECT_TRUE(right(f.dtype, exact, rounded(f.dtype, a))) << f.name;
}

TEST(Accumulator, WhatIsNotFinite) {
  struct Row {
    Terms terms;
    double want;
  };
  const Row rows[] = {
      {{{kInf, 1}, {1, 1}},               kInf },
      {{{kInf, -1}, {1e300, 1e300}},      -kInf},
      {{{kInf, 1}, {-kInf, 1}},           kNaN },
      {{{kInf, 0}},                       kNaN },
      {{{kNaN, 0}, {kInf, 1}},            kNaN },
      {{{1e300, 1e300}, {-1e300, 1e300}}, 0    },
      {{{1e300, 1e300}},                  kInf },
      {{},                                0    },
      {{{-0.0, 1}},                       0    },
  };
  for (const Row& row : rows) {
    Accumulator a;
    for (const auto& [x, y] : row.terms) add_product(a, x, y);
    const double got = decode(DType::f64, rounded(DType::f64, a));
    EXPECT_TRUE(std::isnan(row.want) ? std::isnan(got)
                                     : got == row.want && !std::signbit(got) == !std::signbit(row.want))
        << got << " for " << row.want;
  }
}

TEST(Accumulator, ToOddKeepsWhatIsCutOff) {
  Random random{std::mt19937_64(4)};
  for (int i = 0; i < 20000; ++i) {
    const double hi = random.value(-5, 5), lo = random.value(-90, -20);
    Real exact(hi);
    add(exact, lo);
    for (DType d : {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32})
      ASSERT_TRUE(right(d, exact, encode(d, to_odd(hi, lo)))) << hi << " " << lo;
  }
}

TEST(Accumulator, TheJudgeSeesALastBit) {
  EXPECT_EQ(wrong({
                {3, 5}
  }),
            "");
  EXPECT_NE(wrong(
                {
                    {3, 5}
  },
                1),
            "");
  EXPECT_NE(wrong(
                {
                    {1.1,   1.3  },
                    {1e-30, 1e-30}
  },
                1),
            "");
}

}  // namespace
}  // namespace plumb
