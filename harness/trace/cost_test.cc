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

// Its bytes are the most of one device, so that its price is the most: of what all send or all receive, the
// less.
TEST(Cost, ASendIsPricedAsTheMostThatItCanMove) {
  const Mesh mesh = parse_mesh("x=4");
  const Collective pairs{
      .kind = "send", .pairs = {{0, 1}, {2, 2}, {3, 1}}
  },
      axes{.kind = "send", .axes = {"x"}}, group{.kind = "send", .groups = {{0, 1}, {2}}},
      anybody{.kind = "send"};
  const auto bytes = [&](Collective send, std::int64_t in, std::int64_t out) {
    send.in = in, send.out = out;
    return moved(mesh, send);
  };
  EXPECT_EQ(bytes(pairs, 16, 48), 2 * 16) << "two send";
  EXPECT_EQ(bytes(pairs, 32, 48), 48) << "one receives";
  EXPECT_EQ(bytes(axes, 16, 48), 4 * 16);
  EXPECT_EQ(bytes(axes, 48, 16), 4 * 16);
  EXPECT_EQ(bytes(group, 16, 48), 2 * 16);
  EXPECT_EQ(bytes(anybody, 16, 48), 4 * 16);
  for (const Collective& send : {pairs, axes, group, anybody}) {
    EXPECT_EQ(bytes(send, 0, 0), -1) << "nobody knows";
    EXPECT_GT(bytes(send, 8, 0), 0);
    EXPECT_GT(bytes(send, 0, 8), 0);
  }
  EXPECT_EQ(bytes(axes, 0, 48), 4 * 48);
  EXPECT_EQ(bytes(pairs, 16, 0), 2 * 16);
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bytes(axes, 16, huge), 4 * 16);
  EXPECT_EQ(bytes(axes, huge, huge), -1);
  EXPECT_EQ(moved(mesh, {.kind = "send", .groups = {{0}}}), 0) << "to itself";
  EXPECT_EQ(moved(mesh, {.kind = "send", .axes = {"x"}, .in = 16, .out = 16, .times = 3}), 3 * 64);
  EXPECT_EQ(moved(mesh, {.kind = "send", .axes = {"x"}, .in = 16, .out = 16, .moved = 7}), 7);
  EXPECT_EQ(moved(parse_mesh("x=1"), anybody), 0) << "there is nobody else";
}

// What the program counted in all, where some collective does not say.
TEST(Cost, IsWhatTheProgramCountedWhereItsTraceDoesNotSay) {
  const Case c = parse_case("on x=2: reshard f32[8]+x -> f32[8]");
  Outcome o;
  Collective sum{.kind = "all-reduce", .axes = {"x"}, .in = 32, .out = 32};
  const auto moved_of = [&](std::optional<std::int64_t> said) {
    sum.moved = said, o.trace = {sum};
    return cost(c, o).moved;
  };
  EXPECT_EQ(moved_of({}), 64) << "its price";
  EXPECT_EQ(moved_of(-1), -1);
  o.received = 48;
  EXPECT_EQ(moved_of({}), 48);
  EXPECT_EQ(moved_of(-1), 48);
  EXPECT_EQ(moved_of(40), 40) << "then they are equal, or it is malformed";
  Collective send{.kind = "send", .axes = {"x"}, .in = 32, .out = 32};
  o.trace = {send};
  EXPECT_FALSE(cost(c, o).at_most);
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
