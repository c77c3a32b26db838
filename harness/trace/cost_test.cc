#include "harness/trace/cost.h"

#include <gtest/gtest.h>

#include <limits>

#include "reference/words/text.h"

namespace plumb {
namespace {

// What must move is known of reshards alone: the best that is known of a product is no bound.
TEST(Cost, OfAGatherIsTheFewestThatItNeeds) {
  const Case c = parse_case("on x=4: reshard f32[16@x] -> f32[16]");
  Outcome outcome;
  outcome.trace.push_back({.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 64});
  EXPECT_EQ(cost(c, outcome).moved, 4 * 48);
  EXPECT_EQ(cost(c, outcome).bound, 4 * 48);
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

TEST(Cost, ASendHasAPriceBetweenPairsAlone) {
  const Mesh mesh = parse_case("on x=4: reshard f32[16@x] -> f32[16]").mesh;
  EXPECT_EQ(moved(mesh,
                  {
                      .kind = "send", .pairs = {{0, 1}, {2, 2}, {3, 1}},
                           .in = 16, .out = 48
  }),
            2 * 48);
  EXPECT_EQ(moved(mesh, {.kind = "send", .axes = {"x"}, .in = 16, .out = 48}), -1);
  EXPECT_EQ(moved(mesh, {.kind = "send", .groups = {{0, 1}}, .in = 16, .out = 48}), -1);
  EXPECT_EQ(moved(mesh, {.kind = "send", .in = 16, .out = 48}), -1);
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
