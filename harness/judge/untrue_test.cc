#include "harness/judge/untrue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

std::string why(const std::string& line, const Trace& trace) { return untrue(parse_case(line), trace, {}); }

Collective reduce(const std::string& op) {
  return {.kind = "all-reduce", .axes = {"x"}, .in = 32, .out = 32, .op = op};
}

TEST(Untrue, ASumIsTakenBySumsAndByNothingElse) {
  const std::string sum = "on x=2: reshard f32[8]+x -> f32[8]";
  for (const char* op : {"", "add", "sum", "a name of their own"})
    EXPECT_EQ(why(sum, {reduce(op)}), "") << op;
  for (const char* op : {"mul", "prod", "xor", "and"})
    EXPECT_THAT(why(sum, {reduce(op)}), HasSubstr("where sums are due")) << op;
  EXPECT_THAT(why(sum, {reduce("add"), reduce("max")}), HasSubstr("takes the max"));
  EXPECT_EQ(why(sum, {reduce("add"), reduce("or")}), "") << "beside a sum it may be of something else";
}

TEST(Untrue, AProductOfManyRanksNeedsSums) {
  EXPECT_THAT(why("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]", {}),
              HasSubstr("0 of the 16 elements"));
  EXPECT_EQ(why("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]",
                {
                    {.kind = "all-reduce", .axes = {"x"}, .in = 64, .out = 64}
  }),
            "");
}

TEST(Untrue, AProductThatAddsNothingIsZeroAnywhere) {
  EXPECT_EQ(why("on x=2: einsum mk,kn->mn f32[4@x,0] f32[0,4] -> f32[4,4]", {}), "");
  EXPECT_EQ(why("on x=2: einsum g,ag->a f32[0] f32[8@x,0] -> f32[8]", {}), "");
}

}  // namespace
}  // namespace plumb
