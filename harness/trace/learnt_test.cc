// Terms that a device can have learnt, against those of its block.
#include "harness/trace/learnt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Collective over(const char* axis, const char* kind, std::int64_t in, std::int64_t out) {
  return {.kind = kind, .axes = {axis}, .in = in, .out = out};
}

std::string why(const std::string& line, const Trace& trace) {
  return learnt_too_little(parse_case(line), trace);
}

TEST(Learnt, ASumIsScatteredBeforeItIsGathered) {
  const Collective scatter = over("x", "reduce-scatter", 32, 8), gather = over("x", "all-gather", 8, 32);
  const std::string sum = "on x=4: reshard f32[8]+x -> f32[8]";
  EXPECT_EQ(why(sum, {scatter, gather}), "");
  EXPECT_EQ(why(sum, {gather, scatter}), "device 0 can have learnt at most 20 of the 32 terms of its block");
}

// An exchange of all parts and a gather of what each added up are a sum as well; of one part they are not.
TEST(Learnt, PartsAreExchangedAndAddedUp) {
  const std::string sum = "on x=4: reshard f32[8]+x -> f32[8]";
  const Collective gather = over("x", "all-gather", 8, 32);
  EXPECT_EQ(why(sum, {over("x", "all-to-all", 32, 32), gather}), "");
  EXPECT_NE(why(sum, {over("x", "all-to-all", 32, 8), gather}), "");
}

// Of an exchange each value goes to one member, and of a gather each to all.
TEST(Learnt, AllDevicesLearnNoMoreThanIsSaid) {
  const std::string one = "on x=3: reshard f32[]+x -> f32[]", few = "on x=2: reshard f32[3]+x -> f32[3]",
                    moved = "on x=3: reshard f32[1@x] -> f32[1]";
  EXPECT_EQ(why(one, {over("x", "all-to-all", 4, 12)}),
            "all devices can have learnt at most 3 of the 6 terms that they lack");
  EXPECT_EQ(why(one, {over("x", "all-to-all", 8, 12)}), "");
  EXPECT_EQ(why(moved, {over("x", "all-to-all", 4, 4)}),
            "all devices can have learnt at most 1 of the 2 elements that they lack");
  EXPECT_EQ(why(moved, {over("x", "all-to-all", 8, 4)}), "") << "one has it, and two are told";
  EXPECT_NE(why(few, {over("x", "all-gather", 4, 8), over("x", "all-gather", 8, 12)}), "");
  EXPECT_EQ(why(few, {over("x", "all-gather", 4, 8), over("x", "all-gather", 8, 16)}), "");
  Collective counted = over("x", "all-to-all", 4, 12);
  counted.moved = 24;
  EXPECT_EQ(why(one, {counted}), "") << "who counted may have sent what it likes";
}

// Device 1 says three values, and nobody else is due any.
TEST(Learnt, NobodyIsToldMoreThanTheOthersSay) {
  const std::string one = "on x=2: reshard f32[1,4]+x -> f32[1@x,4]";
  EXPECT_EQ(why(one, {over("x", "all-to-all", 12, 20)}),
            "device 0 can have learnt at most 7 of the 8 terms of its block");
  EXPECT_EQ(why(one, {over("x", "all-to-all", 16, 20)}), "");
}

// Each device has its part of both elements; of the others' it is brought four of the eight terms, and then
// no value of more than two that it lacks.
TEST(Learnt, NobodyIsToldWhatItHas) {
  const std::string sum = "on x=3: reshard f32[4]+x -> f32[4]";
  const Collective gather = over("x", "all-gather", 8, 16);
  EXPECT_EQ(why(sum, {over("x", "all-to-all", 16, 16), gather}), "");
  EXPECT_EQ(why(sum, {over("x", "all-to-all", 16, 8), gather}),
            "all devices can have learnt at most 22 of the 24 terms that they lack");
}

// What all have heard nobody tells them again.
TEST(Learnt, WhatAGatherToldIsKnownToAll) {
  const std::string two = "on x=3: reshard f32[2]+x -> f32[2]";
  const Collective one_each = over("x", "all-gather", 4, 12), of_two = over("x", "all-gather", 4, 8);
  EXPECT_EQ(why(two, {one_each, one_each}), "");
  EXPECT_EQ(why(two, {one_each, of_two}),
            "all devices can have learnt at most 10 of the 12 terms that they lack");
  EXPECT_EQ(why(two, {over("x", "all-to-all", 8, 12), of_two}), "") << "each had heard something else";
}

// Devices 2 and 3 are the side x=1: each is told an element by another group, and both tell them each other.
TEST(Learnt, ASideOfTheMeshKnowsWhatItHadAndWhatEnteredIt) {
  const auto on = [](const std::string& axis, std::int64_t values) {
    return over(axis.c_str(), "all-gather", 4 * values, 8 * values);
  };
  const std::string moved = "on x=2,y=2: reshard f32[1@x.y,3] -> f32[1,3]",
                    pieces = "on x=2,y=2: reshard f32[2@x,4] -> f32[2,4@x.y]",
                    sum = "on x=2,y=2: reshard f32[8]+x.y -> f32[8@x.y]";
  EXPECT_EQ(why(moved, {on("y", 3), on("x", 1), on("y", 2), on("y", 2)}),
            "the side of device 2 can have learnt at most 2 of the 3 elements of its blocks");
  EXPECT_EQ(why(moved, {on("y", 3), on("x", 2), on("y", 2)}), "");
  EXPECT_EQ(why("on x=2,y=2: reshard f32[4@y] -> f32[4]", {on("x", 2)}),
            "all devices can have learnt at most 0 of the 8 elements that they lack")
      << "device 2 has the same half";
  Collective scatter{
      .kind = "reduce-scatter", .axes = {"x", "y"},
           .in = 32, .out = 8
  },
      counted{.kind = "all-gather", .axes = {"x", "y"}, .in = 16, .out = 4, .moved = 4};
  EXPECT_EQ(why(sum, {scatter}), "") << "each member of a side is left with another piece";
  EXPECT_EQ(why(pieces, {counted}), "") << "each may keep another piece";
  counted.moved.reset();
  EXPECT_NE(why(pieces, {counted}), "") << "one element, the same for all";
}

// Rows of three elements lie at each x, on the first of two devices; columns are due at x=0 and x=1. The devices at x=2 tell a
// value each, of their row's three.
TEST(Learnt, AllSidesButOneAreASideToo) {
  const std::string rows = "on f=2,x=3: reshard f32[3@x,1@f,3] -> f32[3,1,3@x.f]";
  const auto told = [&](std::int64_t values) {
    return why(rows, {over("f", "all-gather", 12, 12), over("x", "all-gather", 4 * values, 12 * values)});
  };
  EXPECT_EQ(told(1), "the side of device 0 can have learnt at most 8 of the 9 elements of its blocks");
  EXPECT_EQ(told(2), "");
}

TEST(Learnt, ABroadcastHasOneSender) {
  const Collective all = over("x", "collective-broadcast", 32, 32);
  EXPECT_NE(why("on x=4: reshard f32[8@x] -> f32[8]", {all}), "");
  EXPECT_EQ(why("on x=4: reshard f32[8@x] -> f32[8]", {all, all, all, all}), "") << "each sends once";
  EXPECT_EQ(why("on x=2: reshard f32[8]+x -> f32[8]", {all, all}), "");
  EXPECT_NE(why("on x=2: reshard f32[8]+x -> f32[8]", {all}), "") << "who sends learns nothing";
}

TEST(Learnt, WhatIsRelayedMayBeOfAllPartsThatCanHaveCome) {
  const std::string sum = "on x=4: reshard f32[8]+x -> f32[8]";
  Collective send = over("x", "send", 32, 32);
  EXPECT_EQ(why(sum, {send}), "");
  send.out = 4;
  EXPECT_NE(why(sum, {send}), "");
  send.out = 0;
  EXPECT_EQ(why(sum, {send}), "") << "nobody knows how much";
  Collective anybody{.kind = "send", .in = 32, .out = 32};
  EXPECT_EQ(why(sum, {anybody}), "");
  anybody.out = 4;
  EXPECT_NE(why(sum, {anybody}), "");
  Collective shifted{
      .kind = "collective-permute", .pairs = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
           .in = 32, .out = 32
  };
  EXPECT_NE(why(sum, {shifted}), "");
  EXPECT_EQ(why(sum, {shifted, shifted, shifted}), "") << "a ring";
  shifted.times = 3;
  EXPECT_EQ(why(sum, {shifted}), "");
}

// Law: a loop of a permute, or several of its like, are as many steps one after another.
TEST(Learnt, ALoopOfAPermuteIsItsSteps) {
  int told[2] = {};
  for (const std::string to : {"f32[8]", "f32[8@x]"})
    for (std::int64_t bytes : {0, 4, 8, 16, 32})
      for (std::int64_t first : {1, 2, 3, 4})
        for (std::int64_t second : {0, 1, 2, 3, 4}) {
          Collective hop{
              .kind = "collective-permute",
              .pairs = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
              .in = bytes,
              .out = bytes
          };
          const Trace steps(first + second, hop);
          Trace loops;
          for (std::int64_t times : {first, second})
            if (hop.times = times; times > 0) loops.push_back(hop);
          const std::string line = "on x=4: reshard f32[8]+x -> " + to, wanted = why(line, steps);
          EXPECT_EQ(why(line, loops), wanted) << line << ' ' << bytes << ' ' << first << '+' << second;
          ++told[wanted.empty()];
        }
  EXPECT_EQ(why("on x=4: reshard f32[8]+x -> f32[8]",
                {
                    {.kind = "collective-permute",
                     .pairs = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
                     .in = 8,
                     .out = 8,
                     .times = 3},
                    {.kind = "collective-permute",
                     .pairs = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
                     .in = 8,
                     .out = 8,
                     .times = 3}
  }),
            "")
      << "a sum by a ring";
  EXPECT_GT(told[0], 0);
  EXPECT_GT(told[1], 0);
}

// Of loops that follow each other and differ nobody knows whether they are one.
TEST(Learnt, LoopsThatFollowEachOtherMayBeOne) {
  const Collective right{
      .kind = "collective-permute", .pairs = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
           .in = 8, .out = 8, .times = 3
  };
  Collective left = right;
  left.pairs = {
      {1, 0},
      {2, 1},
      {3, 2},
      {0, 3}
  };
  EXPECT_EQ(why("on x=4: reshard f32[8]+x -> f32[8]", {right, left}), "");
}

TEST(Learnt, WhatNobodyCountedIsNotJudged) {
  Collective gather = over("x", "all-gather", 8, 32);
  gather.moved = -1;
  EXPECT_EQ(why("on x=4: reshard f32[8]+x -> f32[8]", {gather}), "");
  gather.moved = 1;
  EXPECT_NE(why("on x=4: reshard f32[8@x] -> f32[8]", {gather}), "");
}

// On the way a sum may be taken whose parts are narrower than the ends.
TEST(Learnt, NoPartOfAValueIsSent) {
  const std::string sum = "on x=2: reshard f32[]+x -> f32[]", wide = "on x=2: reshard f32[3]+x -> f32[3]";
  EXPECT_EQ(why(sum, {over("x", "all-reduce", 4, 4)}), "");
  EXPECT_NE(why(sum, {over("x", "all-reduce", 2, 2), over("x", "all-reduce", 2, 2)}), "");
  EXPECT_EQ(why(wide, {over("x", "all-gather", 8, 16), over("x", "all-gather", 4, 8)}), "");
  EXPECT_EQ(why("on x=2: reshard f32[5@x,1] -> f32[5,1@x]", {over("x", "all-to-all", 12, 12)}), "");
}

TEST(Learnt, AValueIsAsNarrowAsTheWire) {
  const std::string line = "on x=2: reshard s32[8@x] -> s32[8]+x -> s32[8]";
  const Collective sum = over("x", "all-reduce", 8, 8);
  EXPECT_EQ(why(line + " wire=s8", {sum}), "");
  EXPECT_NE(why(line, {sum}), "");
}

// Extremes, results left unfinished and more parts than there are bits.
TEST(Learnt, WhatIsNotAsked) {
  EXPECT_EQ(why("on x=4: reshard f32[8]+max(x) -> f32[8]", {}), "");
  EXPECT_EQ(why("on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y", {}), "");
  EXPECT_EQ(why("on x=65: reshard f32[8]+x -> f32[8]", {}), "");
  EXPECT_NE(why("on x=64: reshard f32[8]+x -> f32[8]", {}), "");
}

// Law: each block is summed over the axes along which it is unfinished, then all are gathered. That makes
// every finished layout of every unfinished one, and nothing does not.
TEST(Learnt, EverySumIsFinishedByAReductionOfBlocksAndGathers) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  const Choices all = all_reshards(mesh, DType::f32, {4, 4}, true);
  int tried = 0;
  for (std::int64_t i = 0; i < count(all); ++i) {
    const Case c = nth(all, i);
    const Spec& from = c.op.operands[0];
    if (parts(mesh, from) == 1 || parts(mesh, result(c)) > 1) continue;
    Trace trace;
    std::int64_t held = largest_block_bytes(mesh, from, c.rule);
    for (AxisId axis : from.unfinished)
      trace.push_back(over(mesh.axes[axis].name.c_str(), "all-reduce", held, held));
    for (const char* axis : {"x", "y"}) trace.push_back(over(axis, "all-gather", held, 2 * held)), held *= 2;
    EXPECT_EQ(learnt_too_little(c, trace), "") << print(c);
    EXPECT_NE(learnt_too_little(c, {}), "") << print(c);
    ++tried;
  }
  EXPECT_EQ(tried, 77);
}

}  // namespace
}  // namespace plumb
