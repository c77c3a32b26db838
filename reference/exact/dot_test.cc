#include "reference/exact/dot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "reference/exact/bins.h"
#include "reference/words/testing/mpfr_judge.h"

namespace plumb {
namespace {

struct Data {
  std::vector<double> a, b;
  double bound = 0;  // at least the sum of |a b|
  Real exact;
  Pair pair() const { return {a.data(), b.data(), static_cast<std::int64_t>(a.size())}; }
};

// `digits` significant bits, exponents in +-span; every other product undoes the one before, but for a
// part in 2^wobble.
void draw(Data& data, int digits, int span, int wobble, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto value = [&] {
    const double whole = static_cast<double>(random() >> (64 - digits) | 1ull << (digits - 1));
    const int exponent = static_cast<int>(random() % (2 * span + 1)) - span;
    return std::ldexp(random() & 1 ? whole : -whole, exponent - digits);
  };
  for (int k = 0; k < 64; k += 2) {
    const double a = value(), b = value();
    const double close = wobble ? static_cast<float>(-b * (1 + std::ldexp(1.0, -wobble))) : value();
    data.a.insert(data.a.end(), {a, a});
    data.b.insert(data.b.end(), {b, close});
  }
  for (int k = 0; k < 64; ++k) {
    add_product(data.exact, data.a[k], data.b[k]);
    data.bound += std::fabs(data.a[k] * data.b[k]) * (1 + 0x1p-40);
  }
}

// Whether |hi + lo - exact| <= error.
bool honest(const Sum2& sum, const Data& data) {
  if (std::isnan(sum.hi)) return true;
  Real rest;
  mpfr_set(rest.x, data.exact.x, MPFR_RNDN);
  add(rest, -sum.hi), add(rest, -sum.lo);
  mpfr_abs(rest.x, rest.x, MPFR_RNDN);
  return mpfr_cmp_d(rest.x, sum.error) <= 0;
}

// Where a tier decides, it decides as MPFR does.
std::string wrong(const Sum2& sum, const Data& data, int& decided) {
  for (const Format& f : formats()) {
    std::uint64_t bits;
    if (!rounded_once(f.dtype, sum, bits)) continue;
    ++decided;
    if (!right(f.dtype, data.exact, bits)) return std::string(f.name);
  }
  return "";
}

double ratio(const Data& data, int digits, int span) { return std::ldexp(data.bound, 2 * (digits + span)); }

TEST(Dot, TiersAreHonestAndDecideAsMpfrDoes) {
  int by_cascade = 0, by_compensated = 0, by_bins = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (int span : {0, 3, 12, 13, 14, 15, 16, 17, 30, 60})
      for (int wobble : {0, 8, 16, 23}) {
        Data data;
        draw(data, 24, span, wobble, seed);
        const Pair pair = data.pair();
        const Sum2 c = cascade(pair), d = compensated(pair, data.bound);
        const Sum2 t = two_bins(pair, bins(data.bound, ratio(data, 24, span), pair.length));
        ASSERT_TRUE(honest(c, data) && honest(d, data) && honest(t, data))
            << seed << " " << span << " " << wobble;
        ASSERT_EQ(wrong(c, data, by_cascade), "");
        ASSERT_EQ(wrong(d, data, by_compensated), "");
        ASSERT_EQ(wrong(t, data, by_bins), "");
        for (const Format& f : formats()) ASSERT_TRUE(right(f.dtype, data.exact, dot_slowly(f.dtype, pair)));
      }
  EXPECT_GT(by_cascade, 10000);
  EXPECT_GT(by_compensated, 10000);
  EXPECT_GT(by_bins, 10000);
}

// Errors of two signs, as large as each other, do not cancel: 2^200 + 2^160 + 2^112 - 2^57.
TEST(Dot, WhatTheCascadeLosesIsCountedBySize) {
  Data data;
  const auto add = [&](double a, double b) {
    data.a.push_back(a), data.b.push_back(b);
    add_product(data.exact, a, b);
  };
  add(0x1p100, 0x1p100);
  add(0x1p56, 0x1p56);                    // the second word
  add(0x1p80 + 0x1p28, 0x1p80 - 0x1p28);  // its rest, -2^56, is lost to the second word
  add(-0x1p28, 0x1p28);                   // and so is this, by the other sum
  data.a.resize(8), data.b.resize(8);
  EXPECT_TRUE(honest(cascade(data.pair()), data));
  data.a[3] = 0x1p28;  // now what is lost cancels: a sum that is right, of which nobody knows
  EXPECT_TRUE(std::isnan(cascade(data.pair()).hi));
}

TEST(Dot, CompensatedIsHonestForInexactProducts) {
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    for (int span : {0, 20, 200}) {
      Data data;
      draw(data, 53, span, 0, seed);
      int decided = 0;
      const Sum2 d = compensated(data.pair(), data.bound);
      ASSERT_TRUE(honest(d, data));
      ASSERT_EQ(wrong(d, data, decided), "");
    }
}

// One product over and over: what is cut off is cut off on the same side, and the error grows faster than the
// length.
TEST(Dot, CompensatedIsHonestWhereErrorsAddUp) {
  constexpr std::int64_t kLength = 1 << 17;
  Data data;
  data.a.assign(kLength, 1.4722452435761166), data.b.assign(kLength, 1.3796152233237278);
  Real whole;
  add_product(whole, data.a[0], data.b[0]);
  mpfr_mul_2ui(data.exact.x, whole.x, 17, MPFR_RNDN);
  data.bound = data.a[0] * data.b[0] * kLength * (1 + 0x1p-40);
  Sum2 sum = compensated(data.pair(), data.bound);
  EXPECT_TRUE(honest(sum, data));
  sum.error = 0x1p-105 * 2 * kLength * data.bound;
  EXPECT_FALSE(honest(sum, data)) << "an error that grows with the length";
}

// Half a unit beyond 1 is a tie: what is not known exactly decides it, the rounding of its own ends too.
TEST(Dot, ATieIsDecidedOnlyWhereItIsExact) {
  std::uint64_t bits = 0;
  EXPECT_TRUE(rounded_once(DType::f64, {1, 0x1p-53, 0}, bits));
  EXPECT_EQ(decode(DType::f64, bits), 1) << "to even";
  EXPECT_TRUE(rounded_once(DType::f32, {1 + 0x1p-24, 0, 0}, bits));
  EXPECT_EQ(decode(DType::f32, bits), 1);
  for (const double error : {0x1p-1000, 0x1p-107, 0x1p-106, 0x1p-105, 0x1p-104, 0x1p-60}) {
    EXPECT_FALSE(rounded_once(DType::f64, {1, 0x1p-53, error}, bits)) << error;
    EXPECT_FALSE(rounded_once(DType::f64, {-1, -0x1p-53, error}, bits)) << error;
    EXPECT_FALSE(rounded_once(DType::f32, {1 + 0x1p-24, 0, error}, bits)) << error;
  }
  EXPECT_TRUE(rounded_once(DType::f64, {1, 0x1p-54, 0x1p-60}, bits));
  EXPECT_TRUE(rounded_once(DType::f32, {1 + 0x1p-24, 0x1p-60, 0x1p-61}, bits));
  EXPECT_EQ(decode(DType::f32, bits), 1 + 0x1p-23);
}

TEST(Dot, ABlockIsItsDots) {
  std::vector<double> a(4 * 72), b(2 * 72);
  std::mt19937_64 random(1);
  for (double& x : a) x = std::ldexp(static_cast<double>(random() >> 40), -20);
  for (double& x : b) x = std::ldexp(static_cast<double>(random() >> 40), -30);
  Bins starts[8];
  for (Bins& start : starts) start = bins(0x1p30, 0x1p90, 72);
  Sum2 sums[8];
  two_bins_block({a.data(), b.data(), 72}, 72, starts, sums);
  for (int i = 0; i < 8; ++i) {
    const Sum2 one = two_bins({a.data() + i / 2 * 72, b.data() + i % 2 * 72, 72}, starts[i]);
    EXPECT_EQ(sums[i].hi, one.hi);
    EXPECT_EQ(sums[i].lo, one.lo);
  }
}

TEST(Dot, TheJudgeSeesADishonestError) {
  Data data;
  draw(data, 24, 3, 16, 7);
  Sum2 sum = compensated(data.pair(), data.bound);
  sum.hi = std::nextafter(sum.hi, 1e9);
  EXPECT_FALSE(honest(sum, data));
}

}  // namespace
}  // namespace plumb
