#include <gtest/gtest.h>

#include <limits>

#include "reference/exact/exact.h"
#include "reference/exact/testing/hard_inputs.h"
#include "reference/words/testing/mpfr_judge.h"

namespace plumb {
namespace {

// How many elements of `got` are not the sum over the leading dimension of `parts`, rounded once.
std::int64_t wrong(const Tensor& parts, const Tensor& got) {
  const std::int64_t count = parts.shape[0], size = elements(got.shape);
  std::int64_t bad = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    Real exact;
    for (std::int64_t p = 0; p < count; ++p) add(exact, value(parts, p * size + i));
    bad += !right(got.dtype, exact, bits(got, i));
  }
  return bad;
}

TEST(SumParts, IsRoundedOnceForEveryDType) {
  for (const Format& in : formats())
    for (const Format& out : formats())
      for (Hard kind : kHard) {
        if (in.dtype == DType::e8m0 && kind == Hard::cancelling) continue;
        const Tensor parts = hard_tensor(kind, in.dtype, {7, 3, 29}, 1);
        ASSERT_EQ(wrong(parts, sum_parts(parts, out.dtype)), 0)
            << in.name << " " << out.name << " " << name(kind);
      }
}

// Parts that cancel but for the smallest of them.
TEST(SumParts, IsRoundedOnceUnderCancellation) {
  for (DType d : {DType::f8e5m2, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    Tensor parts = hard_tensor(Hard::wide, d, {9, 500}, 2);
    for (std::int64_t i = 0; i < 4 * 500; ++i)
      store(d, parts.bytes.data() + (i + 4 * 500) * format(d).bytes, encode(d, -value(parts, i)));
    for (const Format& out : formats()) ASSERT_EQ(wrong(parts, sum_parts(parts, out.dtype)), 0) << out.name;
  }
}

TEST(SumParts, BlocksAndThreadsMeet) {
  const Tensor parts = hard_tensor(Hard::normal, DType::f32, {3, 100003}, 3);
  EXPECT_EQ(wrong(parts, sum_parts(parts, DType::f32)), 0);
}

TEST(SumParts, IntegersWrap) {
  const Tensor parts = tensor(DType::s8, {3, 2}, {100, -100, 100, -100, 100, -1});
  EXPECT_EQ(sum_parts(parts, DType::s8), tensor(DType::s8, {2}, {44, 55}));
  const Tensor wide = tensor(DType::s32, {2, 1}, {2147483647, 1});
  EXPECT_EQ(sum_parts(wide, DType::s32), tensor(DType::s32, {1}, {-2147483648.0}));
}

TEST(SumParts, Edges) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor parts =
      tensor(DType::f32, {2, 5}, {-0.0, 0.0, inf, inf, 0x1.fffffep127, -0.0, -0.0, -inf, 1, 0x1p127});
  const Tensor got = sum_parts(parts, DType::f32);
  EXPECT_EQ(bits(got, 0), 0x80000000u);
  EXPECT_EQ(bits(got, 1), 0u);
  EXPECT_TRUE(std::isnan(value(got, 2)));
  EXPECT_EQ(value(got, 3), inf);
  EXPECT_EQ(value(got, 4), inf);
  EXPECT_EQ(sum_parts(zeros(DType::f32, {0, 4}), DType::f32), zeros(DType::f32, {4}));
  EXPECT_EQ(sum_parts(zeros(DType::f32, {4, 0}), DType::f32), zeros(DType::f32, {0}));
  EXPECT_EQ(sum_parts(tensor(DType::f32, {3}, {1, 2, 3}), DType::f32), tensor(DType::f32, {}, {6}));
}

TEST(SumParts, TheJudgeSeesALastBit) {
  const Tensor parts = hard_tensor(Hard::normal, DType::bf16, {4, 10}, 4);
  Tensor got = sum_parts(parts, DType::bf16);
  got.bytes[2 * 7] ^= std::byte{1};
  EXPECT_EQ(wrong(parts, got), 1);
}

}  // namespace
}  // namespace plumb
