#include "harness/judge/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(Cost, BytesPastTheLimitAreWasteful) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome outcome;
  outcome.trace.push_back({.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 64});
  const Cost once = cost(c, outcome);
  EXPECT_EQ(once.moved, 4 * 48);
  EXPECT_EQ(once.bound, 4 * 48);
  EXPECT_FALSE(waste_fact(c, once, 1));
  outcome.trace.push_back(outcome.trace.front());
  EXPECT_EQ(waste_fact(c, cost(c, outcome), 1)->status, Status::wasteful);
  EXPECT_FALSE(waste_fact(c, cost(c, outcome), 2));
  EXPECT_FALSE(waste_fact(c, cost(c, outcome), -1));
}

TEST(Cost, LessThanMustMoveIsMistrusted) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome outcome;
  const auto doubt = short_fact(cost(c, outcome));
  ASSERT_TRUE(doubt);
  EXPECT_EQ(doubt->status, Status::mistrusted);
  EXPECT_THAT(doubt->text, testing::HasSubstr("0 bytes"));
  EXPECT_THAT(doubt->text, testing::HasSubstr("192"));
  outcome.trace.push_back({.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 64});
  EXPECT_FALSE(short_fact(cost(c, outcome))) << "not a byte too few";
  outcome.trace.push_back({.kind = "send", .in = 16, .out = 64});
  EXPECT_FALSE(short_fact(cost(c, outcome))) << "of unknown price";
}

// What must move is known of reshards alone: the best that is known of a product is no bound.
TEST(Cost, OfAProductNothingMustMove) {
  const Case c = parse_case("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]");
  EXPECT_FALSE(short_fact(cost(c, Outcome{})));
}

TEST(Cost, ALimitThatCannotBeJudgedIsMistrusted) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome silent;
  silent.trace.push_back({.kind = "send"});
  const Cost unknown = cost(c, silent);
  const auto waste = unjudged_fact(c, unknown, {.waste = 1});
  ASSERT_TRUE(waste);
  EXPECT_EQ(waste->status, Status::mistrusted);
  EXPECT_EQ(waste->text,
            "the limit of 1 times the bytes cannot be judged: the trace does not say how many moved");
  EXPECT_TRUE(unjudged_fact(c, unknown, {.collectives = 1}));
  EXPECT_FALSE(unjudged_fact(c, unknown, {})) << "no limit is asked for";
  EXPECT_FALSE(unjudged_fact(c, cost(c, Outcome{}), {1, 1}));
  const Case free = parse_case("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]?");
  const auto blind = unjudged_fact(free, {.moved = 0, .bound = -1, .best_known = -1}, {.waste = 1});
  ASSERT_TRUE(blind);
  EXPECT_THAT(blind->text, testing::HasSubstr("it is not known how few would do"));
}

TEST(Cost, WhereNothingMustMoveAnyByteIsPastALimit) {
  const Case c = parse_case("on x=4: reshard f32[16] -> f32[16@x]");
  Outcome outcome;
  EXPECT_FALSE(waste_fact(c, cost(c, outcome), 10));
  outcome.trace.push_back({
      .kind = "collective-permute", .pairs = {{0, 1}, {2, 2}},
           .in = 4, .out = 4
  });
  EXPECT_EQ(cost(c, outcome).moved, 4);
  const auto waste = waste_fact(c, cost(c, outcome), 10);
  ASSERT_TRUE(waste);
  EXPECT_EQ(waste->text, "moved 4 bytes, the fewest are 0") << "times nothing is no number";
}

TEST(Cost, NothingMovedCostsNothingWhoeverTookPart) {
  const Mesh mesh = parse_case("on x=4: reshard f32[16@x] -> f32[16]").mesh;
  EXPECT_EQ(moved(mesh, {.kind = "all-gather", .in = 0, .out = 0}), 0);
  EXPECT_EQ(moved(mesh, {.kind = "all-gather", .axes = {"x"}, .in = 0, .out = 0}), 0);
}

TEST(Cost, AKindWithoutAPriceMakesTheCostUnknown) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome outcome;
  outcome.trace.push_back({.kind = "ragged-all-to-all", .axes = {"x"}, .in = 16, .out = 64});
  EXPECT_EQ(cost(c, outcome).moved, -1);
}

TEST(Cost, MoreBytesThanThereCanBeAreUnknown) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const Collective steps[] = {
      {.kind = "all-reduce", .axes = {"x"},            .in = huge,                   .out = huge               },
      {.kind = "all-gather", .groups = {{0, 1, 2, 3}}, .in = 4,                      .out = 16,                  .times = huge},
      {.kind = "collective-permute",                    .pairs = {{0, 1}, {1, 0}},                 .in = huge, .out = huge},
  };
  for (const Collective& step : steps) EXPECT_EQ(moved(c.mesh, step), -1) << step.kind;
  const Collective often{
      .kind = "collective-permute", .pairs = {{0, 1}, {1, 0}, {2, 3}, {3, 2}},
           .out = huge, .times = huge
  };
  EXPECT_EQ(moved(c.mesh, often), -1);
  Outcome outcome;
  for (int i = 0; i < 4; ++i) outcome.trace.push_back({.kind = "send", .axes = {"x"}, .moved = huge / 2 - 1});
  EXPECT_EQ(cost(c, outcome).moved, -1);
}

}  // namespace
}  // namespace plumb
