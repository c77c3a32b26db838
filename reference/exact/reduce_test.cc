#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "reference/exact/exact.h"

namespace plumb {
namespace {

// Small integers: the quotient of a sum below 2^30 by n has its correct rounding to every narrower format
// in long double arithmetic, for 64 digits tell it apart from every tie.
TEST(Mean, IsRoundedOnce) {
  std::mt19937_64 random(1);
  for (DType dtype : {DType::f8e4m3, DType::bf16, DType::f16, DType::f32})
    for (std::int64_t n : {1, 2, 3, 5, 6, 7, 96})
      for (int i = 0; i < 300; ++i) {
        std::vector<double> values;
        long double sum = 0;
        for (int p = 0; p < 3; ++p) {
          values.push_back(decode(dtype, encode(dtype, static_cast<double>(random() % 200) - 100)));
          sum += values.back();
        }
        const double quotient = static_cast<double>(sum / n);
        const Tensor mean = mean_parts(tensor(dtype, {3}, values), n, dtype);
        ASSERT_EQ(value(mean, 0), decode(dtype, encode(dtype, quotient)));
      }
}

TEST(Mean, RoundsTheSumAndTheQuotientTogether) {
  // 259 is no bf16; rounded to 260 first, a fifth of it would be 52.
  EXPECT_EQ(value(mean_parts(tensor(DType::bf16, {2, 1}, {256, 3}), 5, DType::bf16), 0), 51.75);
  EXPECT_EQ(value(mean_parts(tensor(DType::bf16, {2, 1}, {256, 1}), 1, DType::bf16), 0), 256);
  EXPECT_TRUE(std::isinf(value(mean_parts(tensor(DType::f32, {1, 1}, {INFINITY}), 2, DType::f32), 0)));
}

TEST(Extreme, KeepsTheBitsOfTheWinner) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor t = tensor(DType::f32, {2, 5}, {1, -3, -0.0, nan, 7, 2, -4, 0.0, 1, nan});
  const Tensor most = extreme_parts(t, Extreme::largest), least = extreme_parts(t, Extreme::smallest);
  EXPECT_EQ(value(most, 0), 2);
  EXPECT_EQ(value(most, 1), -3);
  EXPECT_FALSE(std::signbit(value(most, 2)));
  EXPECT_EQ(value(least, 0), 1);
  EXPECT_EQ(value(least, 1), -4);
  EXPECT_TRUE(std::signbit(value(least, 2)));
  for (const Tensor* each : {&most, &least})
    for (int i : {3, 4}) EXPECT_TRUE(std::isnan(value(*each, i)));
  EXPECT_EQ(value(extreme_parts(tensor(DType::s8, {3, 1}, {-128, 127, 0}), Extreme::largest), 0), 127);
}

}  // namespace
}  // namespace plumb
