// The algebra of pairs: what is the same value, how far its real may be off, and which decisions are in
// doubt.
#include "reference/hlo/prove/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/hlo/prove/testing/products.h"
#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {
namespace {

constexpr double kInfinity = HUGE_VAL;
const double kNaN = std::nan("");

struct Algebra {
  Pairs pairs{7};

  Twin of(double real, std::uint64_t residue, double error = 0) { return {real, error, {residue}, {}}; }
  Twin one(Opcode opcode, const Twin& x) { return pairs.unary(opcode, x); }
  Twin two(Opcode opcode, const Twin& x, const Twin& y) { return pairs.binary(opcode, x, y); }
  Twin times(const Twin& x, const Twin& y) { return two(Opcode::multiply, x, y); }
  Twin plus(const Twin& x, const Twin& y) { return two(Opcode::add, x, y); }
  Twin exp(const Twin& x) { return one(Opcode::exponential, x); }
  Twin log(const Twin& x) { return one(Opcode::log, x); }
  bool same(const Twin& x, const Twin& y) { return pairs.same(x, y); }
};

TEST(Residues, OfANumberAreExact) {
  EXPECT_EQ(residue_of(0), Residue{});
  EXPECT_EQ(residue_of(1), Residue{1});
  EXPECT_EQ(residue_of(-1), Residue{Residue::p - 1});
  EXPECT_EQ(residue_of(0x1.8p3), Residue{12});
  EXPECT_EQ(residue_of(0x1p61), Residue{1});
  EXPECT_EQ(residue_of(0x1p-61), Residue{1});
  EXPECT_EQ(residue_of(0x1p70), Residue{512});
  for (const double x : {3.0, 0.1, -7e30, 5e-300, 0x1p-1074, 1.7e308, -0x1.fffffffffffffp-3}) {
    EXPECT_EQ(residue_of(x), residue_of(x / 2) + residue_of(x - x / 2)) << x;
    EXPECT_EQ(residue_of(x) + residue_of(-x), Residue{}) << x;
    EXPECT_EQ(residue_of(x) * inverse(residue_of(x)), Residue{1}) << x;
  }
  EXPECT_EQ(inverse({}), Residue{});
  Residue power_of{1};
  for (std::uint64_t e = 0; e < 20; ++e, power_of = power_of * Residue{123456789})
    EXPECT_EQ(power({123456789}, e), power_of);
}

// The first numbers of SplitMix64 seeded with 1234567, as they are published.
TEST(Residues, HashesAreThoseOfSplitMix64) {
  std::uint64_t state = 1234567;
  for (const std::uint64_t want : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(hashed(0, 0, {state += 0x9e3779b97f4a7c15u}).value, want % Residue::p);
  EXPECT_NE(hashed(1, 2, {3}), hashed(2, 1, {3}));
}

TEST(Pairs, IntegersAreExact) {
  Pairs pairs{7};
  EXPECT_EQ(pairs.integer(-3, Type::s32).coefficient, residue_of(-3));
  EXPECT_EQ(pairs.integer(-3, Type::s32).real, -3);
  EXPECT_EQ(pairs.integer(-1, Type::u64).real, 0x1p64);
  EXPECT_EQ(pairs.integer(-1, Type::u64).coefficient, residue_of(0x1p64) + residue_of(-1));
  EXPECT_EQ(pairs.integer(1, Type::pred).coefficient, Residue{1});
  EXPECT_EQ(pairs.integer((std::int64_t{1} << 53) - 1, Type::s64).error, 0);
  EXPECT_EQ(pairs.integer(std::int64_t{1} << 53, Type::s64).error, 1);
  EXPECT_EQ(pairs.integer((std::int64_t{1} << 62) + 1, Type::s64).error, 0x1p62 * kUnit);
  EXPECT_EQ(pairs.integer(-(std::int64_t{1} << 62) - 1, Type::s64).error, 0x1p62 * kUnit);
  EXPECT_TRUE(pairs.same(pairs.constant(0.5), {0.5, 0, inverse({2}), {}}));
}

TEST(Pairs, WhatIsNotFinite) {
  Algebra a;
  const Twin up = a.pairs.constant(kInfinity), down = a.pairs.constant(-kInfinity),
             nan = a.pairs.constant(kNaN), x = a.of(3, 99);
  EXPECT_TRUE(a.same(up, up) && a.same(down, down) && a.same(nan, nan));
  EXPECT_FALSE(a.same(up, down) || a.same(up, nan) || a.same(down, nan) || a.same(up, x));
  EXPECT_TRUE(a.same(a.one(Opcode::negate, up), down));
  EXPECT_TRUE(a.same(a.one(Opcode::negate, nan), nan)) << "it has no sign";
  EXPECT_FALSE(a.pairs.finite(up) || a.pairs.finite(nan) || !a.pairs.finite(x));
  for (const Opcode opcode : {Opcode::add, Opcode::subtract, Opcode::multiply, Opcode::divide,
                              Opcode::maximum, Opcode::minimum, Opcode::remainder, Opcode::atan2})
    for (const Twin& l : {up, down, nan, x})
      for (const Twin& r : {up, down, nan, x}) {
        if (std::isfinite(l.real) && std::isfinite(r.real)) continue;
        const double want = Reals{}.binary(opcode, l.real, r.real);
        const Twin got = a.two(opcode, l, r);
        EXPECT_TRUE(Reals{}.same(got.real, want)) << row(opcode).name << " " << l.real << " " << r.real;
        EXPECT_TRUE(want == 3 || a.same(got, a.pairs.constant(want))) << row(opcode).name << " " << l.real;
      }
  EXPECT_TRUE(a.same(a.two(Opcode::divide, x, a.pairs.constant(0)), up));
  EXPECT_TRUE(a.same(a.two(Opcode::remainder, x, a.pairs.constant(0)), nan));
  EXPECT_TRUE(a.same(a.plus(a.of(1e308, 5), a.of(1e308, 6)), up));
  EXPECT_TRUE(a.same(a.times(a.of(1e200, 5), a.of(-1e200, 6)), down));
  EXPECT_TRUE(a.same(a.exp(down), a.pairs.constant(0)));
  EXPECT_TRUE(a.same(a.exp(up), up) && a.same(a.exp(nan), nan) && a.same(a.log(up), up));
  EXPECT_TRUE(a.same(a.log(a.pairs.constant(0)), down));
  EXPECT_TRUE(a.same(dot(a.pairs, {up, x}, {x, x}), up));
  for (const Opcode opcode :
       {Opcode::abs, Opcode::sign, Opcode::ceil, Opcode::floor, Opcode::round_nearest_afz,
        Opcode::round_nearest_even, Opcode::sine, Opcode::tan})
    EXPECT_TRUE(a.same(a.one(opcode, nan), nan)) << row(opcode).name;
  EXPECT_TRUE(a.same(a.one(Opcode::abs, down), up) && a.same(a.one(Opcode::floor, down), down));
  EXPECT_EQ(a.pairs.doubts, 0);
}

TEST(Pairs, WaysToWriteOneValue) {
  Algebra a;
  const Twin x = a.of(1.5, 1001), y = a.of(-0.75, 2002), z = a.of(0.6, 3003), one = a.pairs.constant(1);
  const auto minus = [&](const Twin& l, const Twin& r) { return a.two(Opcode::subtract, l, r); };
  const auto over = [&](const Twin& l, const Twin& r) { return a.two(Opcode::divide, l, r); };
  const auto raised = [&](const Twin& l, const Twin& r) { return a.two(Opcode::power, l, r); };
  const auto number = [&](double n) { return a.pairs.constant(n); };
  const Twin root = a.one(Opcode::sqrt, x);
  Twin product = one;
  for (int i = 0; i < 64; ++i) product = a.times(product, x);
  // clang-format off
  const std::pair<Twin, Twin> table[] = {
      {a.plus(a.plus(x, y), z), a.plus(z, a.plus(y, x))},
      {a.times(a.plus(x, y), z), a.plus(a.times(z, x), a.times(y, z))},
      {minus(x, x), number(0)},
      {a.plus(x, number(0)), x},
      {a.plus(number(0), a.exp(x)), a.exp(x)},
      {over(a.times(x, y), y), x},
      {over(number(0), y), number(0)},
      {a.times(a.exp(x), a.exp(y)), a.exp(a.plus(x, y))},
      {over(a.exp(x), a.exp(y)), a.exp(minus(x, y))},
      {a.log(a.exp(x)), x},
      {a.log(one), number(0)},
      {a.log(a.exp(number(0))), number(0)},
      {a.exp(number(0)), one},
      {a.log(raised(x, y)), a.times(y, a.log(x))},
      {raised(x, number(0)), one},
      {raised(x, number(1)), x},
      {raised(x, number(3)), a.times(x, a.times(x, x))},
      {raised(x, number(64)), product},
      {raised(x, number(-2)), over(one, a.times(x, x))},
      {raised(x, number(0.5)), root},
      {raised(x, number(-0.5)), over(one, root)},
      {raised(x, y), a.exp(a.times(y, a.log(x)))},
      {raised(x, a.of(2, 77)), a.exp(a.times(a.of(2, 77), a.log(x)))},
      {raised(x, number(1.5)), a.exp(a.times(number(1.5), a.log(x)))},
      {a.one(Opcode::rsqrt, x), over(one, root)},
      {a.one(Opcode::tan, x), over(a.one(Opcode::sine, x), a.one(Opcode::cosine, x))},
      {a.one(Opcode::logistic, x), over(one, a.plus(one, a.exp(a.one(Opcode::negate, x))))},
      {a.one(Opcode::exponential_minus_one, x), minus(a.exp(x), one)},
      {a.one(Opcode::log_plus_one, x), a.log(a.plus(one, x))},
      {a.one(Opcode::abs, y), a.one(Opcode::negate, y)},
      {a.one(Opcode::abs, x), x},
      {a.one(Opcode::sign, y), number(-1)},
      {a.one(Opcode::sign, x), one},
      {a.one(Opcode::sign, number(0)), number(0)},
      {a.two(Opcode::maximum, x, y), x},
      {a.two(Opcode::maximum, y, x), x},
      {a.two(Opcode::minimum, x, y), y},
      {a.two(Opcode::minimum, y, x), y},
      {a.two(Opcode::remainder, x, z), minus(x, a.times(number(2), z))},
      {a.two(Opcode::remainder, y, z), a.plus(y, z)},
  };
  // clang-format on
  for (std::size_t n = 0; n < std::size(table); ++n) {
    const auto& [l, r] = table[n];
    EXPECT_TRUE(a.same(l, r)) << "row " << n;
    EXPECT_LE(std::fabs(l.real - r.real), l.error + r.error) << "row " << n;
  }
  EXPECT_EQ(a.pairs.doubts, 0);
}

// Every sum of up to three products of a few numbers, some of them exponentials: one value however it is
// split, and whatever it is multiplied with.
TEST(Pairs, ASumOfProductsIsOneValueHoweverItIsSplit) {
  Algebra a;
  const Twin zero = a.pairs.constant(0), x = a.of(1.5, 1001), e = a.exp(a.of(0.25, 77)),
             f = a.exp(a.of(-0.5, 88)), scaled = a.times(x, f), g = a.exp(a.of(1, 99));
  const std::vector<Twin> numbers = {zero, x, e, scaled, a.one(Opcode::negate, e)};
  std::vector<std::pair<Twin, Twin>> products;
  for (const Twin& l : numbers)
    for (const Twin& r : numbers) products.emplace_back(l, r);
  const auto added = [&](const std::vector<std::pair<Twin, Twin>>& terms) {
    std::vector<Twin> lefts, rights;
    for (const auto& [l, r] : terms) lefts.push_back(l), rights.push_back(r);
    return dot(a.pairs, lefts, rights);
  };
  for (const auto& p : products)
    for (const auto& q : products)
      for (const auto& r : products) {
        const Twin whole = added({p, q, r});
        for (const Twin& split : {a.plus(added({p}), added({q, r})), a.plus(added({q, p}), added({r})),
                                  a.plus(added({r, p}), added({q})),
                                  a.plus(a.plus(a.times(r.first, r.second), a.times(p.first, p.second)),
                                         a.times(q.first, q.second))}) {
          ASSERT_TRUE(a.same(split, whole));
          ASSERT_TRUE(a.same(a.times(split, g), a.times(whole, g)));
        }
      }
}

TEST(Pairs, FunctionsAreDifferent) {
  Algebra a;
  const Twin x = a.of(1.5, 1001), y = a.of(-0.75, 2002);
  std::vector<Twin> all = {a.two(Opcode::atan2, x, y), a.two(Opcode::atan2, y, x), a.two(Opcode::power, x, y),
                           a.two(Opcode::divide, x, y)};
  for (const Opcode opcode :
       {Opcode::cbrt, Opcode::cosine, Opcode::erf, Opcode::exponential, Opcode::log, Opcode::sine,
        Opcode::sqrt, Opcode::tanh, Opcode::tan, Opcode::rsqrt, Opcode::logistic})
    all.push_back(a.one(opcode, x)), all.push_back(a.one(opcode, y));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(a.same(all[i], all[j])) << i << " " << j;
  EXPECT_THROW(a.one(Opcode::popcnt, x), Misfit);
  EXPECT_THROW(a.two(Opcode::and_, x, y), Misfit);
  EXPECT_FALSE(a.same(x, Pairs{8}.unary(Opcode::sine, x)));
  EXPECT_FALSE(Pairs{8}.same(a.one(Opcode::sine, x), Pairs{8}.unary(Opcode::sine, x)));
}

// Reals of every function at many points; log and sqrt are of the size, exp stays finite.
TEST(Pairs, RealsAreThoseOfReals) {
  Algebra a;
  for (const double real : {0.3, 0.5, 1.5, 2.5, -0.3, -1.5, -2.5, 7.25}) {
    const Twin x = a.of(real, 4711);
    for (const Opcode opcode :
         {Opcode::abs, Opcode::cbrt, Opcode::ceil, Opcode::cosine, Opcode::erf, Opcode::exponential,
          Opcode::exponential_minus_one, Opcode::floor, Opcode::logistic, Opcode::negate,
          Opcode::round_nearest_afz, Opcode::round_nearest_even, Opcode::sign, Opcode::sine, Opcode::tan,
          Opcode::tanh}) {
      const Twin got = a.one(opcode, x);
      EXPECT_LE(std::fabs(got.real - Reals{}.unary(opcode, real)), 8 * got.error)
          << row(opcode).name << " " << real;
    }
    for (const Opcode opcode : {Opcode::log, Opcode::sqrt, Opcode::rsqrt}) {
      const double want = Reals{}.unary(opcode, std::fabs(real));
      EXPECT_LE(std::fabs(a.one(opcode, x).real - want), a.one(opcode, x).error)
          << row(opcode).name << " " << real;
    }
  }
  EXPECT_EQ(a.exp(a.of(700, 1)).real, std::exp(600));
  EXPECT_EQ(a.exp(a.of(-700, 1)).real, std::exp(-600));
  EXPECT_NE(a.exp(a.of(-1e6, 1)).coefficient, Residue{});
  EXPECT_EQ(a.exp(a.of(-1e7, 1)).coefficient, Residue{}) << "masked by a large negative number";
}

}  // namespace
}  // namespace plumb::hlo
