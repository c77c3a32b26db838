// Floats as doubles: their operations, their orders, and the bits of the formats against what the machine's
// own formats hold.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "reference/hlo/run/array.h"
#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/numbers.h"

namespace plumb::hlo {
namespace {

TEST(Bits, EveryOneOfTheNarrowFormats) {
  for (std::int64_t bits = 0; bits < 65536; ++bits) {
    const double bf = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const double half = static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
    for (const auto& [type, x] : {
             std::pair{Type::bf16, bf  },
             std::pair{Type::f16,  half}
    }) {
      const double got = float_of(type, bits);
      ASSERT_TRUE(std::isnan(x) ? std::isnan(got) : got == x && std::signbit(got) == std::signbit(x)) << bits;
      ASSERT_TRUE(std::isnan(x) || bits_of(type, x) == bits) << x;
    }
  }
  EXPECT_EQ(bits_of(Type::bf16, std::nan("")), 0x7fc0);
  EXPECT_EQ(bits_of(Type::f16, std::nan("")), 0x7e00);
  EXPECT_EQ(bits_of(Type::f32, std::nan("")), 0x7fc00000);
  EXPECT_THROW(bits_of(Type::f8e5m2, 1), Misfit);
  EXPECT_THROW(float_of(Type::f8e5m2, 1), Misfit);
}

// What lies between two numbers of a format, or past its largest, is rounded as the machine rounds.
TEST(Bits, RoundedToTheNearestEven) {
  const auto below = [](double x) { return std::nextafter(x, 0.0); };
  std::vector<double> reals = {0,        1,          1.5,     3,         65504,        65519.9,
                               65520,    65536,      1e30,    3e38,      3.4028236e38, 1e39,
                               0x1p-14,  0x1p-24,    0x1p-25, 0x1.8p-25, 0x1p-126,     0x1p-149,
                               0x1p-150, 0x1.8p-150, 0.1,     HUGE_VAL};
  for (std::uint32_t seed = 1, n = 0; n < 2000; ++n) {
    seed = seed * 1664525 + 1013904223;
    reals.push_back(std::ldexp(1 + seed / 0x1p32, static_cast<int>(seed >> 8) % 320 - 160));
    reals.push_back(std::ldexp(1 + seed / 0x1p32, static_cast<int>(seed >> 8) % 44 - 26));
  }
  for (const double size : reals)
    for (const double x : {size, -size, below(size), -below(size)}) {
      const auto single = static_cast<float>(x);
      ASSERT_EQ(bits_of(Type::f32, x), std::bit_cast<std::uint32_t>(single)) << x;
      ASSERT_EQ(bits_of(Type::f16, x), std::bit_cast<std::uint16_t>(static_cast<_Float16>(x))) << x;
      ASSERT_EQ(bits_of(Type::f64, x), std::bit_cast<std::int64_t>(x)) << x;
      const double again = float_of(Type::f32, std::bit_cast<std::uint32_t>(single));
      ASSERT_EQ(std::bit_cast<std::int64_t>(again), std::bit_cast<std::int64_t>(static_cast<double>(single)))
          << x;
      ASSERT_EQ(float_of(Type::f64, std::bit_cast<std::int64_t>(x)), x);
    }
}

TEST(Reals, OperationsOfOne) {
  Reals reals;
  const std::pair<Opcode, double (*)(double)> table[] = {
      {Opcode::abs,                   std::fabs                                      },
      {Opcode::cbrt,                  std::cbrt                                      },
      {Opcode::ceil,                  std::ceil                                      },
      {Opcode::cosine,                std::cos                                       },
      {Opcode::erf,                   std::erf                                       },
      {Opcode::exponential,           std::exp                                       },
      {Opcode::exponential_minus_one, std::expm1                                     },
      {Opcode::floor,                 std::floor                                     },
      {Opcode::log,                   std::log                                       },
      {Opcode::log_plus_one,          std::log1p                                     },
      {Opcode::logistic,              [](double x) { return 1 / (1 + std::exp(-x)); }},
      {Opcode::negate,                [](double x) { return -x; }                    },
      {Opcode::round_nearest_afz,     std::round                                     },
      {Opcode::round_nearest_even,    std::nearbyint                                 },
      {Opcode::rsqrt,                 [](double x) { return 1 / std::sqrt(x); }      },
      {Opcode::sign,                  [](double x) { return x < 0   ? -1.0
                                           : x > 0 ? 1.0
                                                   : x; }        },
      {Opcode::sine,                  std::sin                                       },
      {Opcode::sqrt,                  std::sqrt                                      },
      {Opcode::tan,                   std::tan                                       },
      {Opcode::tanh,                  std::tanh                                      },
  };
  for (const auto& [opcode, f] : table)
    for (const double x : {0.0, -0.0, 0.3, 0.5, 1.0, 1.5, 2.5, -0.3, -1.5, -2.5, 7.0, HUGE_VAL, -HUGE_VAL}) {
      const double got = reals.unary(opcode, x), want = f(x);
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want))
          << row(opcode).name << " " << x << ": " << got;
    }
  for (const auto& [opcode, f] : table)
    EXPECT_TRUE(std::isnan(reals.unary(opcode, std::nan("")))) << row(opcode).name;
  EXPECT_THROW(reals.unary(Opcode::popcnt, 1), Misfit);
}

TEST(Reals, RootsAndLogarithmsOfTheMagnitude) {
  Reals reals;
  reals.total = true;
  for (const double x : {-3.0, -1.5, -0.5, 0.0, 0.25, 2.0}) {
    EXPECT_EQ(reals.unary(Opcode::log, x), std::log(std::fabs(x)));
    EXPECT_EQ(reals.unary(Opcode::sqrt, x), std::sqrt(std::fabs(x)));
    EXPECT_EQ(reals.unary(Opcode::rsqrt, x), 1 / std::sqrt(std::fabs(x)));
    EXPECT_EQ(reals.unary(Opcode::log_plus_one, x), std::log1p(x < -1 ? -2 - x : x));  // log |1 + x|
    EXPECT_EQ(reals.unary(Opcode::cbrt, x), std::cbrt(x));
  }
}

TEST(Reals, OperationsOfTwo) {
  Reals reals;
  const double some[] = {0, 0.5, 1, 3, -2, HUGE_VAL, -HUGE_VAL, std::nan("")};
  const auto same = [&](double a, double b) { return reals.same(a, b); };
  for (const double a : some)
    for (const double b : some) {
      const bool nan = std::isnan(a) || std::isnan(b);
      EXPECT_PRED2(same, reals.binary(Opcode::add, a, b), a + b);
      EXPECT_PRED2(same, reals.binary(Opcode::subtract, a, b), a - b);
      EXPECT_PRED2(same, reals.binary(Opcode::multiply, a, b), a * b);
      EXPECT_PRED2(same, reals.binary(Opcode::divide, a, b), a / b);
      EXPECT_PRED2(same, reals.binary(Opcode::maximum, a, b), nan ? std::nan("") : std::max(a, b));
      EXPECT_PRED2(same, reals.binary(Opcode::minimum, a, b), nan ? std::nan("") : std::min(a, b));
      EXPECT_PRED2(same, reals.binary(Opcode::power, a, b), std::pow(a, b));
      EXPECT_PRED2(same, reals.binary(Opcode::remainder, a, b), std::fmod(a, b));
      EXPECT_PRED2(same, reals.binary(Opcode::atan2, a, b), std::atan2(a, b));
      EXPECT_EQ(reals.same(a, b), std::isnan(a) == std::isnan(b) && (std::isnan(a) || a == b));
      EXPECT_EQ(reals.finite(a), std::fabs(a) < HUGE_VAL);
      const double left[] = {a, 2}, right[] = {b, -5};
      EXPECT_PRED2(same, reals.dot(left, right, 2), a * b - 10);
      EXPECT_EQ(reals.dot(left, right, 0), 0);
    }
  EXPECT_THROW(reals.binary(Opcode::and_, 1, 1), Misfit);
}

TEST(Reals, TheTotalOrderAndThePartial) {
  Reals reals;
  const double nan = std::nan("");
  const std::vector<double> ascending = {-nan, -HUGE_VAL, -1, -0.0, 0.0, 1, HUGE_VAL, nan};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const double a = ascending[i], b = ascending[j];
      EXPECT_EQ(reals.compare(a, b, true), i < j   ? Ordering::less
                                           : i > j ? Ordering::greater
                                                   : Ordering::equal)
          << a << " " << b;
      EXPECT_EQ(reals.compare(a, b, false), std::isnan(a) || std::isnan(b) ? Ordering::unordered
                                            : a < b                        ? Ordering::less
                                            : a > b                        ? Ordering::greater
                                                                           : Ordering::equal)
          << a << " " << b;
    }
}

}  // namespace
}  // namespace plumb::hlo
