// How far the real of a pair may be from the value: the bound holds wherever the operands' values lie, and is
// no wider than it must be. And decisions: those that the bounds leave open are doubts, and no others.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/prove/testing/products.h"
#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {
namespace {

Twin of(double real, double error, std::uint64_t residue = 1001) { return {real, error, {residue}, {}}; }

using Function = long double (*)(long double, long double);

// The farthest that f gets from the real of the pair while its operands' values move within their errors, at
// the corners.
double farthest(Function f, double real, const Twin& a, const Twin& b) {
  long double most = 0;
  for (const double x : {-1.0, 0.0, 1.0})
    for (const double y : {-1.0, 0.0, 1.0})
      most = std::max(most, std::fabs(f(a.real + static_cast<long double>(x) * a.error,
                                        b.real + static_cast<long double>(y) * b.error) -
                                      real));
  return static_cast<double>(most);
}

void judged(const Twin& got, Function f, const Twin& a, const Twin& b, double slack) {
  const double far = farthest(f, got.real, a, b);
  EXPECT_GE(got.error, far * (1 - 0x1p-30)) << a.real << " " << b.real;
  EXPECT_LE(got.error, far * slack * 1.0001 + 9 * kUnit * std::fabs(got.real)) << a.real << " " << b.real;
}

TEST(Errors, OfTwoOperands) {
  const std::pair<Opcode, Function> table[] = {
      {Opcode::add,      [](long double x, long double y) { return x + y; }},
      {Opcode::subtract, [](long double x, long double y) { return x - y; }},
      {Opcode::multiply, [](long double x, long double y) { return x * y; }},
      {Opcode::divide,   [](long double x, long double y) { return x / y; }},
  };
  for (const auto& [opcode, f] : table)
    for (const double x : {1.5, -0.7, 40.0})
      for (const double y : {2.1, -0.3, 5.0})
        for (const double of_x : {0.0, 0.01})
          for (const double of_y : {0.0, 0.02}) {
            Pairs pairs{7};
            const Twin a = of(x, of_x), b = of(y, of_y, 2002);
            judged(pairs.binary(opcode, a, b), f, a, b, 1);
          }
}

TEST(Errors, OfOneOperand) {
  const std::pair<Opcode, Function> table[] = {
      {Opcode::exponential, [](long double x, long double) { return std::exp(x); } },
      {Opcode::log,         [](long double x, long double) { return std::log(x); } },
      {Opcode::sqrt,        [](long double x, long double) { return std::sqrt(x); }},
      {Opcode::cbrt,        [](long double x, long double) { return std::cbrt(x); }},
      {Opcode::sine,        [](long double x, long double) { return std::sin(x); } },
      {Opcode::tanh,        [](long double x, long double) { return std::tanh(x); }},
      {Opcode::erf,         [](long double x, long double) { return std::erf(x); } },
      {Opcode::cosine,      [](long double x, long double) { return std::cos(x); } },
  };
  for (const auto& [opcode, f] : table)
    for (const double x : {0.2, 0.9, 1.9, 3.3})
      for (const double error : {0.0, 0.001}) {
        Pairs pairs{7};
        judged(pairs.unary(opcode, of(x, error)), f, of(x, error), {}, 2);
        EXPECT_GE(pairs.unary(opcode, of(x, error)).error,
                  2 * farthest(f, f(x, 0), of(x, error), {}) * 0.999);
      }
}

// Where the operand may be anywhere on a wave, so may the wave: a turn away its ends are where they were.
TEST(Errors, OfWaves) {
  const std::pair<Opcode, Function> table[] = {
      {Opcode::sine,   [](long double x, long double) { return std::sin(x); }},
      {Opcode::cosine, [](long double x, long double) { return std::cos(x); }},
  };
  for (const auto& [opcode, f] : table)
    for (const double x : {0.0, 0.2, 1.6, 3.1, -2.0})
      for (const double error : {0.01, 0.5, 0.99, 1.0, 3.14, 6.283185307179586, 100.0}) {
        Pairs pairs{7};
        const Twin got = pairs.unary(opcode, of(x, error));
        for (int n = -1000; n <= 1000; ++n)
          ASSERT_GE(got.error, std::fabs(f(x + error * n / 1000, 0) - got.real))
              << x << " " << error << " " << n;
      }
}

// One rounding of double at least, where the operands are exact.
TEST(Errors, OfOneRounding) {
  Pairs pairs{7};
  const Twin a = of(0.1, 0), b = of(0.7, 0, 2002);
  for (const Opcode opcode : {Opcode::add, Opcode::subtract, Opcode::multiply, Opcode::divide}) {
    const Twin got = pairs.binary(opcode, a, b);
    EXPECT_EQ(got.error, std::fabs(got.real) * kUnit) << row(opcode).name;
  }
  EXPECT_EQ(pairs.unary(Opcode::sine, a).error, std::fabs(std::sin(0.1)) * kFunction);
  EXPECT_EQ(pairs.unary(Opcode::negate, of(0.1, 3)).error, 3);
  EXPECT_EQ(pairs.binary(Opcode::add, of(1, 0.5), pairs.constant(0)).error, 0.5);
  EXPECT_EQ(pairs.binary(Opcode::divide, a, of(0.1, 0.1)).error, HUGE_VAL);
  EXPECT_EQ(pairs.binary(Opcode::divide, a, of(-0.1, 0.2)).error, HUGE_VAL);
  EXPECT_EQ(pairs.unary(Opcode::log, of(0.1, 0.1)).error, HUGE_VAL);
  EXPECT_EQ(pairs.unary(Opcode::log, of(-0.1, 0.2)).error, HUGE_VAL);
  EXPECT_EQ(pairs.unary(Opcode::exponential, of(599, 2)).error, HUGE_VAL) << "larger than a double may be";
  const Twin unknown = pairs.binary(Opcode::multiply, of(0, HUGE_VAL), of(0, 0.1, 2002));
  for (const Opcode opcode : {Opcode::sqrt, Opcode::exponential})
    EXPECT_FALSE(pairs.unary(opcode, unknown).error < HUGE_VAL) << row(opcode).name;
  EXPECT_EQ(pairs.unary(Opcode::sine, unknown).error, 2) << "from -1 to 1";
  EXPECT_EQ(pairs.unary(Opcode::cosine, special(7, HUGE_VAL)).error, 0) << "not finite";
  const Twin least = pairs.unary(Opcode::exponential, of(-5000, 0));
  EXPECT_GE(least.error, least.real) << "it is smaller than its real";
}

TEST(Errors, OfAnAngle) {
  for (const double y : {0.5, -2.0})
    for (const double x : {1.5, -0.3}) {
      Pairs pairs{7};
      const Twin a = of(y, 0.001), b = of(x, 0.002, 2002), got = pairs.binary(Opcode::atan2, a, b);
      const double far =
          farthest([](long double p, long double q) { return std::atan2(p, q); }, got.real, a, b);
      EXPECT_GE(got.error, far * 0.99);
      EXPECT_LE(got.error, 3 * far);
      EXPECT_EQ(pairs.binary(Opcode::atan2, of(y, std::fabs(y)), of(x, std::fabs(x), 2002)).error, HUGE_VAL)
          << "any angle";
      EXPECT_EQ(pairs.binary(Opcode::atan2, of(y, 0), of(x, 0)).error, std::fabs(got.real) * kFunction);
    }
}

// The bound of a sum of products is the sum of what each product may be off, and of each rounding: as many as
// there are products, of half a unit of what their magnitudes add up to.
TEST(Errors, OfASumOfProducts) {
  Pairs pairs{7};
  const std::vector<Twin> a = {of(1.5, 0.01, 3), of(-0.7, 0.02, 5), of(0.3, 0, 7)},
                          b = {of(-2.5, 0.03, 11), of(0.9, 0.05, 13), of(4.0, 0.07, 17)};
  double far = 0, real = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    real += a[i].real * b[i].real;
    far += farthest([](long double x, long double y) { return x * y; }, a[i].real * b[i].real, a[i], b[i]);
  }
  const Twin got = dot(pairs, a, b);
  EXPECT_EQ(got.real, real);
  EXPECT_EQ(got.coefficient, Residue{3 * 11 + 5 * 13 + 7 * 17});
  EXPECT_EQ(std::nearbyint(got.error * 0x1p40), std::nearbyint(far * 0x1p40));
  const std::vector<Twin> exact = {of(0.1, 0, 3), of(-0.7, 0, 5)}, others = {of(0.3, 0, 7), of(0.9, 0, 11)};
  EXPECT_EQ(dot(pairs, exact, others).error, 0.1 * (2 * kUnit * 0.3) + 0.7 * (2 * kUnit * 0.9));
}

// So it is where an exponential is among them, which is no plain number.
TEST(Errors, OfASumOfProductsOfAnExponential) {
  Pairs pairs{7};
  const Twin ex = pairs.unary(Opcode::exponential, of(0.5, 0.01));
  const std::vector<Twin> a = {of(-1.5, 0.01, 3), ex, of(0.3, 0.04, 7)},
                          b = {of(-2.5, 0.03, 11), of(-0.9, 0.05, 13), of(-4.0, 0.07, 17)};
  double far = 0;
  for (std::size_t i = 0; i < 3; ++i)
    far += farthest([](long double x, long double y) { return x * y; }, a[i].real * b[i].real, a[i], b[i]);
  EXPECT_EQ(std::nearbyint(dot(pairs, a, b).error * 0x1p40), std::nearbyint(far * 0x1p40));
}

// Law: an operation of arrays is that of their elements, of zeros and what cancels too.
TEST(Errors, OfArraysAreThoseOfTheirElements) {
  Pairs pairs{7};
  const std::vector<Twin> some = {pairs.constant(0),
                                  of(0, 0.5, 0),
                                  of(1.5, 0.01),
                                  of(-1.5, 0.02, 1001),
                                  of(-0.7, 0, 2002),
                                  negated(of(-0.7, 0.1, 2002)),
                                  pairs.constant(-3),
                                  of(HUGE_VAL, 0),
                                  of(0x1p1023, 0x1p1000, 9),
                                  pairs.unary(Opcode::exponential, of(0.5, 0.01))};
  std::vector<Twin> a, b;
  for (const Twin& x : some)
    for (const Twin& y : some) a.push_back(x), b.push_back(y);
  for (const Opcode opcode :
       {Opcode::add, Opcode::subtract, Opcode::multiply, Opcode::divide, Opcode::maximum, Opcode::minimum}) {
    std::vector<Twin> got(a.size());
    pairs.binary(opcode, a.data(), b.data(), got.data(), std::ssize(a));
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Twin want = pairs.binary(opcode, a[i], b[i]);
      SCOPED_TRACE(std::string(row(opcode).name) + " of " + std::to_string(a[i].real) + " and " +
                   std::to_string(b[i].real));
      EXPECT_TRUE(got[i].real == want.real || (std::isnan(got[i].real) && std::isnan(want.real)));
      EXPECT_TRUE(got[i].error == want.error || (std::isnan(got[i].error) && std::isnan(want.error)));
      EXPECT_EQ(got[i].coefficient, want.coefficient);
      EXPECT_EQ(got[i].exponent, want.exponent);
    }
  }
}

TEST(Errors, ASumOfOneProductIsTheProduct) {
  Pairs pairs{7};
  const Twin zero = pairs.constant(0), ex = pairs.unary(Opcode::exponential, of(0.5, 0.01)),
             y = of(0.7, 0, 2002);
  const Twin got = dot(pairs, {zero, ex, y}, {y, y, zero}), product = pairs.binary(Opcode::multiply, ex, y);
  EXPECT_EQ(got.coefficient, product.coefficient);
  EXPECT_EQ(got.exponent, product.exponent);
  EXPECT_EQ(got.real, product.real);
  EXPECT_TRUE(pairs.same(dot(pairs, {}, {}), zero) && pairs.same(dot(pairs, {y}, {zero}), zero));
  const Twin nothing = dot(pairs, {y, y}, {pairs.constant(1), pairs.constant(-1)});
  EXPECT_TRUE(pairs.same(nothing, zero) && nothing.real == 0 && nothing.error == 0);
}

TEST(Doubts, OfComparisons) {
  const auto doubts = [](const Twin& x, const Twin& y) {
    Pairs pairs{7};
    pairs.compare(x, y, false);
    return pairs.doubts;
  };
  EXPECT_EQ(doubts(of(1, 0.25), of(1.5, 0.25, 2)), 1);
  EXPECT_EQ(doubts(of(1.5, 0.25), of(1, 0.25, 2)), 1);
  EXPECT_EQ(doubts(of(1, 0.25), of(1.5, 0.125, 2)), 0);
  EXPECT_EQ(doubts(of(1, 0.125), of(1.5, 0.25, 2)), 0);
  EXPECT_EQ(doubts(of(1, 0.25), of(1, 0.25)), 0);
  EXPECT_EQ(doubts(of(1, std::nan("")), of(9, 0, 2)), 1) << "it may be anything";
  EXPECT_EQ(doubts(of(1, HUGE_VAL), special(7, HUGE_VAL)), 0);
  EXPECT_EQ(doubts(special(7, -HUGE_VAL), of(1, HUGE_VAL)), 0);
  Pairs pairs{7};
  const Twin nan = special(7, std::nan(""));
  EXPECT_EQ(pairs.compare(of(1, 0), of(2, 0, 2), false), Ordering::less);
  EXPECT_EQ(pairs.compare(of(2, 0), of(1, 0, 2), false), Ordering::greater);
  EXPECT_EQ(pairs.compare(of(2, 0, 5), of(1, 0, 5), false), Ordering::equal);
  EXPECT_EQ(pairs.compare(nan, of(1, 0), false), Ordering::unordered);
  EXPECT_EQ(pairs.compare(of(1, 0), nan, false), Ordering::unordered);
  EXPECT_EQ(pairs.compare(of(1, 0), nan, true), Ordering::less);
  EXPECT_EQ(pairs.compare(nan, of(1, 0), true), Ordering::greater);
}

// A minimum or maximum that may be either holds by its real; its residue is that of nothing else but the same
// of both, in either order.
TEST(Doubts, OfMinimaAndMaxima) {
  const Twin apart = of(1.5, 0.125, 2), near = of(1.125, 0.25, 3), a = of(1, 0.25);
  std::vector<Residue> met = {near.coefficient, a.coefficient};
  for (const Opcode opcode : {Opcode::maximum, Opcode::minimum}) {
    const bool most = opcode == Opcode::maximum;
    Pairs pairs{7};
    EXPECT_EQ(pairs.binary(opcode, a, apart).coefficient, (most ? apart : a).coefficient);
    EXPECT_EQ(pairs.binary(opcode, apart, a).error, (most ? apart : a).error);
    EXPECT_EQ(pairs.binary(opcode, a, a).coefficient, a.coefficient);
    EXPECT_EQ(pairs.binary(opcode, a, special(7, HUGE_VAL)).real, most ? HUGE_VAL : 1);
    EXPECT_EQ(pairs.blurs, 0);
    const Twin got = pairs.binary(opcode, a, near), turned = pairs.binary(opcode, near, a);
    EXPECT_EQ(pairs.blurs, 2);
    EXPECT_EQ(pairs.doubts, 0);
    EXPECT_EQ(got.real, most ? near.real : a.real);
    EXPECT_TRUE(pairs.same(got, turned));
    for (const Residue other : met) EXPECT_NE(got.coefficient, other);
    met.push_back(got.coefficient);
    for (const double x : {-1.0, 0.0, 1.0})
      for (const double y : {-1.0, 0.0, 1.0}) {
        const double left = a.real + x * a.error, right = near.real + y * near.error;
        EXPECT_LE(std::fabs((most ? std::max(left, right) : std::min(left, right)) - got.real), got.error);
      }
    EXPECT_FALSE(pairs.binary(opcode, of(1, std::nan("")), of(9, 0, 2)).error < HUGE_VAL);
    EXPECT_FALSE(pairs.binary(opcode, of(9, 0, 2), of(1, std::nan(""))).error < HUGE_VAL);
    pairs.compare(got, a, false);
    EXPECT_EQ(pairs.doubts, 1) << "which of both it was is not known";
  }
}

// What is drawn of residues is of no use where some are blurred.
TEST(Doubts, OfWhatIsDrawnOfResidues) {
  Pairs pairs{7};
  pairs.print(of(1, 0));
  EXPECT_EQ(pairs.doubts, 0);
  pairs.binary(Opcode::maximum, of(1, 0.25), of(1.125, 0.25, 2));
  pairs.print(of(1, 0));
  EXPECT_EQ(pairs.doubts, 1);
}

// A sign, a magnitude or a rounding that may be either holds by its real, too.
TEST(Doubts, OfSignsAndOfRounding) {
  const auto blurs = [](Opcode opcode, const Twin& x) {
    Pairs pairs{7};
    const Twin got = pairs.unary(opcode, x);
    EXPECT_EQ(pairs.doubts, 0);
    for (int n = -8; n <= 8 && !std::isnan(x.error) && pairs.blurs > 0; ++n)
      EXPECT_LE(std::fabs(Reals{}.unary(opcode, x.real + x.error * n / 8) - got.real), got.error)
          << row(opcode).name << " " << x.real;
    EXPECT_TRUE(pairs.blurs == 0 || !pairs.same(got, x));
    EXPECT_TRUE(pairs.same(got, Pairs{7}.unary(opcode, x)));
    return pairs.blurs;
  };
  for (const Opcode opcode : {Opcode::abs, Opcode::sign}) {
    EXPECT_EQ(blurs(opcode, of(0.5, 0.5)), 1);
    EXPECT_EQ(blurs(opcode, of(-0.5, 0.75)), 1);
    EXPECT_EQ(blurs(opcode, of(-0.5, 0.25)), 0);
    EXPECT_EQ(blurs(opcode, of(0.5, 0.5, 0)), 0);
    EXPECT_EQ(blurs(opcode, of(0.5, std::nan(""))), 1);
  }
  EXPECT_EQ(blurs(Opcode::floor, of(2.25, 0.5)), 1);
  EXPECT_EQ(blurs(Opcode::floor, of(1.75, 0.5)), 1);
  EXPECT_EQ(blurs(Opcode::floor, of(2.25, 0.125)), 0);
  EXPECT_EQ(blurs(Opcode::floor, of(2.25, 0.5, 2)), 0);  // by its residue it is 2
  EXPECT_EQ(blurs(Opcode::ceil, of(2.25, 0.5)), 1);
  EXPECT_EQ(blurs(Opcode::round_nearest_even, of(2.375, 0.25)), 1);
  EXPECT_EQ(blurs(Opcode::round_nearest_even, of(2.25, 0.125)), 0);
  EXPECT_EQ(blurs(Opcode::round_nearest_afz, of(2.375, 0.25)), 1);
  Pairs pairs{7};
  EXPECT_EQ(pairs.unary(Opcode::floor, of(1.999, 0.01, 2)).real, 2);
  EXPECT_EQ(pairs.unary(Opcode::ceil, of(1.25, 0, 77)).coefficient, Residue{2});
  EXPECT_EQ(pairs.truncate(of(-2.75, 0.125, 77), Type::s32), -2);
  EXPECT_EQ(pairs.truncate(of(2.001, 0.5, 2), Type::s32), 2);
  EXPECT_EQ(pairs.truncate(special(7, HUGE_VAL), Type::s8), 127);
  EXPECT_EQ(pairs.truncate(special(7, std::nan("")), Type::s8), 0);
  EXPECT_EQ(pairs.truncate(of(300, 0, 300), Type::u8), 255);
  EXPECT_EQ(pairs.doubts, 0);
  pairs.truncate(of(2.75, 0.5, 77), Type::s32);
  EXPECT_EQ(pairs.doubts, 1);
}

// The bits of a float are known where its value is its real.
TEST(Doubts, OfBits) {
  Pairs pairs{7};
  EXPECT_EQ(pairs.bits(Type::f32, pairs.constant(1.5)), 0x3fc00000);
  EXPECT_EQ(pairs.bits(Type::f32, pairs.constant(-HUGE_VAL)), 0xff800000);
  EXPECT_EQ(pairs.bits(Type::f32, pairs.constant(std::nan(""))), 0x7fc00000);
  EXPECT_EQ(pairs.bits(Type::f32, {0.5, 0, inverse({2}), {}}), 0x3f000000);
  EXPECT_THROW(pairs.bits(Type::f32, of(1.5, 0, 77)), Misfit);
  EXPECT_THROW(pairs.bits(Type::f32, {1.5, 0.1, residue_of(1.5), {}}), Misfit);
  EXPECT_THROW(pairs.bits(Type::f32, {1.5, 0, residue_of(1.5), {5}}), Misfit);
  EXPECT_THROW(pairs.bits(Type::f32, {HUGE_VAL, 0.1, {}, {}}), Misfit);
  EXPECT_EQ(pairs.bits(Type::f32, pairs.binary(Opcode::subtract, of(1.5, 0), of(1.5, 0))), 0);
}

}  // namespace
}  // namespace plumb::hlo
