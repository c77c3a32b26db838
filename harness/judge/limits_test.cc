#include "harness/judge/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(Limits, BytesPastTheLimitAreWasteful) {
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

TEST(Limits, ALimitThatCannotBeJudgedIsMistrusted) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome silent;
  silent.trace.push_back({.kind = "send"});
  const Cost unknown = cost(c, silent);
  const auto waste = unjudged_fact(c, unknown, {.max_waste = 1});
  ASSERT_TRUE(waste);
  EXPECT_EQ(waste->status, Status::mistrusted);
  EXPECT_EQ(waste->text,
            "the limit of 1 times the bytes cannot be judged: the trace does not say how many moved");
  EXPECT_TRUE(unjudged_fact(c, unknown, {.max_collectives = 1}));
  EXPECT_FALSE(unjudged_fact(c, unknown, {})) << "no limit is asked for";
  EXPECT_FALSE(unjudged_fact(c, cost(c, Outcome{}), {.max_waste = 1, .max_collectives = 1}));
  const Case free = parse_case("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]?");
  const auto blind = unjudged_fact(free, {.moved = 0, .bound = -1, .best_known = -1}, {.max_waste = 1});
  ASSERT_TRUE(blind);
  EXPECT_THAT(blind->text, testing::HasSubstr("it is not known how few would do"));
}

// Nobody counted, and it may have moved less.
TEST(Limits, ASendThatMayBePastTheLimitIsNotWasteful) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome outcome;
  outcome.trace.push_back({.kind = "send", .axes = {"x"}, .in = 64, .out = 96});
  const Cost most = cost(c, outcome);
  EXPECT_EQ(most.moved, 256);
  EXPECT_FALSE(waste_fact(c, most, 1));
  EXPECT_THAT(unjudged_fact(c, most, {.max_waste = 1})->text,
              testing::HasSubstr("of its sends the trace says only"));
  EXPECT_FALSE(unjudged_fact(c, most, {.max_waste = 2})) << "nor can it be past that";
  EXPECT_FALSE(unjudged_fact(c, most, {}));
  outcome.trace[0].moved = 256;
  EXPECT_TRUE(waste_fact(c, cost(c, outcome), 1));
  EXPECT_FALSE(unjudged_fact(c, cost(c, outcome), {.max_waste = 1}));
  outcome.trace[0] = {
      .kind = "send", .groups = {{0}, {1}},
           .in = 64, .out = 64
  };
  EXPECT_FALSE(cost(c, outcome).at_most) << "to itself";
}

TEST(Limits, WhereNothingMustMoveAnyByteIsPastALimit) {
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

TEST(Limits, CollectivesPastTheLimitAreWasteful) {
  const Collectives c{3, 2, {"2 all-reduces over dp and pp in one"}};
  EXPECT_FALSE(count_fact(c, -1));
  EXPECT_FALSE(count_fact(c, 1.5));
  const auto fact = count_fact(c, 1);
  ASSERT_TRUE(fact);
  EXPECT_EQ(fact->status, Status::wasteful);
  EXPECT_EQ(fact->text, "took 3 collectives, its groups allow 2: 2 all-reduces over dp and pp in one");
  EXPECT_FALSE(count_fact(Collectives{}, 1));
}

}  // namespace
}  // namespace plumb
