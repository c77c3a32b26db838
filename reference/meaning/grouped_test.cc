#include <gtest/gtest.h>

#include "reference/meaning/meaning.h"
#include "reference/meaning/testing/naive.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Uneven and empty groups, tails, several lists, nothing at all.
TEST(Grouped, AgreesWithTheDefinition) {
  const char* sizes[] = {
      "3,2,5,2", "0,0,12,0", "0,0,0,0", "1,0,2,0", "12,0,0,0", "1,2,0,3/0,0,6,0", "0,1,0,0/3,0,0,1/1,1,1,1"};
  std::mt19937_64 random(1);
  for (const std::string list : sizes) {
    const std::string lines[] = {
        "on x=2: grouped fwd f32[12,3] f32[4,3,5] sizes=" + list + " -> f32[12,5]",
        "on x=2: grouped dgrad f32[12,5] f32[4,3,5] sizes=" + list + " -> f32[12,3]",
        "on x=2: grouped wgrad f32[12,3] f32[12,5] sizes=" + list + " -> f32[4,3,5]",
        "on x=2: grouped fwd bf16[12,3]+x f8e4m3[4,3,5] sizes=" + list + " -> f32[12,5]",
        "on x=2: grouped dgrad f32[12,5] f32[4,3,5]+x sizes=" + list + " -> f32[12,3]",
        "on x=2: grouped wgrad f32[12,3]+x f32[12,5]+x sizes=" + list + " -> f32[4,3,5]",
        "on x=2: grouped fwd s8[12,3] s8[4,3,5] sizes=" + list + " -> s32[12,5]",
        "on x=2: grouped fwd f32[12,0] f32[4,0,5] sizes=" + list + " -> f32[12,5]",
        "on x=2: grouped wgrad f32[12,0] f32[12,5] sizes=" + list + " -> f32[4,0,5]",
    };
    for (const std::string& line : lines) {
      const Case c = parse_case(line);
      const std::vector<Tensor> operands{naive::operand(c, 0, 9, random), naive::operand(c, 1, 9, random)};
      const Tensor got = evaluate(c, operands);
      EXPECT_EQ(got.shape, shape(result(c))) << line;
      EXPECT_EQ(naive::values(got), naive::grouped(c, operands)) << line;
    }
  }
}

TEST(Grouped, NoRowsAtAll) {
  const Case c = parse_case("on x=1: grouped wgrad f32[0,3] f32[0,5] sizes=0,0 -> f32[2,3,5]");
  EXPECT_EQ(evaluate(c, {zeros(DType::f32, {0, 3}), zeros(DType::f32, {0, 5})}),
            zeros(DType::f32, {2, 3, 5}));
}

// Rows past the sum of the sizes may hold anything.
TEST(Grouped, ATailIsZeroAndIgnored) {
  const auto filled = [](std::vector<std::int64_t> shape) {
    Tensor t = zeros(DType::f32, std::move(shape));
    for (std::int64_t i = 0; i < elements(t.shape); ++i)
      store(DType::f32, t.bytes.data() + 4 * i, encode(DType::f32, i < 2 ? 1.0 : 0.0 / 0.0));
    return t;
  };
  const Case c = parse_case("on x=1: grouped wgrad f32[4,1] f32[4,1] sizes=2,0 -> f32[2,1,1]");
  EXPECT_EQ(naive::values(evaluate(c, {filled({4, 1}), filled({4, 1})})), (std::vector<std::int64_t>{2, 0}));
  const Case fwd = parse_case("on x=1: grouped fwd f32[4,1] f32[2,1,1] sizes=2,0 -> f32[4,1]");
  EXPECT_EQ(naive::values(evaluate(fwd, {filled({4, 1}), filled({2, 1, 1})})),
            (std::vector<std::int64_t>{1, 1, 0, 0}));
}

}  // namespace
}  // namespace plumb
