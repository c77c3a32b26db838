#include "reference/check/device/weighed.h"

#include <gtest/gtest.h>

#include <random>

namespace plumb {
namespace {

// How many are small. Law: what is small is the integer that it is by way of f64; whatever is one below 2^20
// is small.
template <DType dtype>
int expect_same_integers(double scale, const std::vector<std::uint32_t>& words) {
  const AnyElement any{dtype, width_of(dtype), scale};
  const FloatElement<dtype> floats{static_cast<float>(scale)};
  int found = 0;
  for (std::uint32_t word : words) {
    const auto stored = static_cast<typename As<dtype>::Word>(word);
    const auto* at = reinterpret_cast<const std::byte*>(&stored);
    const std::int64_t integer = any.integer(at);
    std::int32_t k = 0;
    const bool small = floats.small(at, k);
    EXPECT_EQ(small, std::abs(integer) < 1 << 20) << word << " times " << scale;
    EXPECT_EQ(floats.integer(at), integer) << word << " times " << scale;
    if (small) EXPECT_EQ(k, integer) << word << " times " << scale;
    found += small;
  }
  return found;
}

TEST(Weighed, SmallFloatsAreTheIntegersThatTheyAre) {
  std::vector<std::uint32_t> all, some;
  for (std::uint32_t word = 0; word < 1 << 16; ++word) all.push_back(word);
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) some.push_back(static_cast<std::uint32_t>(random()));
  for (int k = -(1 << 20) - 2; k <= (1 << 20) + 2; k += 7)
    some.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(k)));
  for (float value : {0x1p20f, 0x1.fffffep19f, 0x1.ffffep19f, 0x1p21f, 0x1p22f, 0x1p23f, 0x1p24f, 0.5f, 1.5f})
    for (float sign : {1.0f, -1.0f}) some.push_back(std::bit_cast<std::uint32_t>(sign * value));
  for (double scale : {1.0, 2.0, 64.0, 0x1p30, 0x1p100}) {
    EXPECT_GT(expect_same_integers<DType::bf16>(scale, all), 1000);
    EXPECT_GT(expect_same_integers<DType::f32>(scale, some), 1);
  }
}

}  // namespace
}  // namespace plumb
