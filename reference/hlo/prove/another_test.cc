// Whether devices hold another value: of each element of each device, of integers and reals, shared and
// apart.
#include "reference/hlo/prove/another.h"

#include <gtest/gtest.h>

#include <limits>

namespace plumb::hlo {
namespace {

constexpr std::int64_t kHolders = 3, kElements = 4;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// [2,2] on each device: 1, 2, 3, ...
Array<double> counted(Type type) {
  Array<double> a{type, {2, 2}, kHolders, {}, {}};
  for (std::int64_t n = 0; n < kHolders * kElements; ++n)
    if (is_real(type))
      a.reals.push_back(static_cast<double>(n + 1));
    else
      a.integers.push_back(n + 1);
  return a;
}

Array<double> changed(Array<double> a, std::size_t element, double x) {
  if (is_real(a.type))
    a.reals[element] = x;
  else
    a.integers[element] = static_cast<std::int64_t>(x);
  return a;
}

// Law: an array did not move from itself, and did where any one element is another.
TEST(Another, EachElementOfEachDevice) {
  for (const Type type : {Type::f32, Type::s32}) {
    const Array<double> a = counted(type);
    EXPECT_FALSE(is_another(a, a, kHolders));
    for (std::size_t n = 0; n < kHolders * kElements; ++n) {
      EXPECT_TRUE(is_another(a, changed(a, n, 0), kHolders)) << n;
      EXPECT_TRUE(is_another(changed(a, n, 0), a, kHolders)) << n;
    }
  }
}

// Law: what the map of a device leaves out did not move, and all else did.
TEST(Another, WhereTheMapOfTheDeviceHasIt) {
  const Array<double> a = counted(Type::f32);
  const std::vector<Integers> maps = {{0, -1, 1, -1}, {-1, 0, 5, 7}, {-1, -1, -1, 0}};
  for (std::size_t n = 0; n < kHolders * kElements; ++n)
    EXPECT_EQ(is_another(a, changed(a, n, 0), kHolders, &maps), maps[n / kElements][n % kElements] >= 0) << n;
}

// Law: of an array that devices share what counts is what each of them holds.
TEST(Another, SharedIsAsApart) {
  Array<double> all{Type::f32, {2, 2}, 1, {}, {}}, two = all;
  two.lanes = 2,
  two.holders = std::make_shared<const std::vector<std::int32_t>>(std::vector<std::int32_t>{1, 0, 1});
  for (const double x : {1., 2., 3., 4.}) all.reals.push_back(x);
  for (const double x : {1., 2., 3., 4., 1., 2., 3., 4.}) two.reals.push_back(x);
  EXPECT_FALSE(is_another(all, two, kHolders));
  EXPECT_FALSE(is_another(two, all, kHolders));
  for (std::size_t n = 0; n < 2 * kElements; ++n) {
    EXPECT_TRUE(is_another(all, changed(two, n, 0), kHolders)) << n;
    EXPECT_TRUE(is_another(changed(two, n, 0), all, kHolders)) << n;
    EXPECT_EQ(is_another(all, changed(two, n, 0), 1), n >= kElements) << "device 0 holds the second, " << n;
  }
}

// A difference of one part in 2^30 of the largest is another order, more is another value; what is no number
// is like itself alone, and what is infinite makes nothing small.
TEST(Another, ByMoreThanAnotherOrder) {
  const auto from = [](std::vector<double> was, std::vector<double> is) {
    Array<double> a{Type::f32, {static_cast<std::int64_t>(was.size())}, 1, {}, {}}, b = a;
    for (const double x : was) a.reals.push_back(x);
    for (const double x : is) b.reals.push_back(x);
    return is_another(a, b, kHolders);
  };
  const double least = 0x1p-30;
  for (const double largest : {4., -4.}) {
    EXPECT_FALSE(from({largest, 1}, {largest, 1 + 4 * least}));
    EXPECT_TRUE(from({largest, 1}, {largest, 1 + 8 * least}));
    EXPECT_TRUE(from({1, largest}, {1 - 8 * least, largest}));
    EXPECT_TRUE(from({largest, -1}, {largest, 1})) << "the same magnitude";
  }
  EXPECT_FALSE(from({0.25}, {0.25 + 0.25 * least})) << "all are small";
  EXPECT_TRUE(from({0.25}, {0.25 + least}));
  EXPECT_FALSE(from({0, 0}, {0, 0}));
  EXPECT_TRUE(from({0, 0}, {0, least}));
  EXPECT_FALSE(from({kNoNumber}, {kNoNumber}));
  EXPECT_TRUE(from({kNoNumber}, {1}));
  EXPECT_TRUE(from({1}, {kNoNumber}));
  EXPECT_FALSE(from({kInfinite, 1}, {kInfinite, 1}));
  EXPECT_TRUE(from({kInfinite, 1}, {-kInfinite, 1}));
  EXPECT_TRUE(from({kInfinite, 1}, {1, 1}));
  EXPECT_TRUE(from({kInfinite, 1}, {kInfinite, 2}));
}

TEST(Another, OtherTypesShapesAndParts) {
  Array<double> a = counted(Type::f32), reshaped = a, renamed = a;
  reshaped.dims = {4}, renamed.type = Type::bf16;
  EXPECT_TRUE(is_another(a, reshaped, kHolders));
  EXPECT_TRUE(is_another(a, renamed, kHolders));
  const auto single = [](const Array<double>& array) { return value(Array<double>(array)); };
  const Value<double> none, one = single(a), other = single(changed(a, 5, 0));
  const auto tuple = [](std::vector<Value<double>> parts) {
    return Value<double>{nullptr, std::move(parts)};
  };
  const auto same = [&](const Value<double>& was, const Value<double>& is) {
    return !is_another(was, is, kHolders);
  };
  EXPECT_TRUE(same(none, none));
  EXPECT_TRUE(same(one, one));
  EXPECT_FALSE(same(one, other));
  EXPECT_FALSE(same(one, none));
  EXPECT_FALSE(same(none, one));
  EXPECT_TRUE(same(tuple({one, other}), tuple({one, other})));
  EXPECT_FALSE(same(tuple({one, other}), tuple({one, one})));
  EXPECT_FALSE(same(tuple({one, other}), tuple({other, other})));
  EXPECT_FALSE(same(tuple({one}), tuple({one, one})));
  EXPECT_FALSE(same(tuple({one, one}), tuple({one})));
  EXPECT_FALSE(same(tuple({one}), one));
  EXPECT_TRUE(same(tuple({tuple({one}), none}), tuple({tuple({one}), none})));
}

}  // namespace
}  // namespace plumb::hlo
