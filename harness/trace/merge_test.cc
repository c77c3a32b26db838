#include "harness/trace/merge.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using Axes = std::vector<std::string>;

Collective step(const std::string& kind, Axes axes, std::int64_t in, std::int64_t out) {
  Collective one;
  one.kind = kind, one.axes = std::move(axes), one.in = in, one.out = out;
  if (kind == "all-reduce" || kind == "reduce-scatter") one.op = "sum";
  return one;
}

struct Plan {
  std::string line;
  Trace trace;
  std::vector<Axes> groups;  // beside those of single axes
};

Collectives count(const Plan& plan) {
  Outcome outcome;
  outcome.trace = plan.trace, outcome.groups = plan.groups;
  return collectives_of(parse_case(plan.line), outcome);
}

const std::string mesh = "on dp=2,pp=2,tp=2: reshard ";
const std::string sum = mesh + "f32[8]+dp.pp.tp -> f32[8]";
const Trace three = {step("all-reduce", {"dp"}, 32, 32), step("all-reduce", {"pp"}, 32, 32),
                     step("all-reduce", {"tp"}, 32, 32)};

std::string in_short(const Collectives& c) {
  std::string text = std::to_string(c.issued) + " to " + std::to_string(c.merged);
  for (const std::string& could : c.could) text += "; " + could;
  return text;
}

TEST(Merge, AGroupOfAllAxesTakesARunInOne) {
  EXPECT_EQ(in_short(count({sum, three, {{"dp", "pp", "tp"}}})),
            "3 to 1; 3 all-reduces over dp, pp and tp in one");
}

// Devices 4 to 7 do more, and nothing that could be spared.
TEST(Merge, TheDeviceThatCouldSpareMostIsCounted) {
  Trace apart = {step("all-reduce", {}, 32, 32), step("all-reduce", {}, 32, 32)};
  apart[0].groups = {
      {0, 1},
      {2, 3}
  };
  apart[1].groups = {
      {0, 2},
      {1, 3}
  };
  for (int n = 0; n < 3; ++n) {
    apart.push_back(step("collective-permute", {}, 32, 32));
    apart.back().pairs = {
        {4, 5},
        {5, 4},
        {6, 7},
        {7, 6}
    };
  }
  EXPECT_EQ(in_short(count({sum, apart, {{"pp", "tp"}}})), "2 to 1; 2 all-reduces over tp and pp in one");
}

TEST(Merge, AGroupOfPartOfARunTakesThatPart) {
  EXPECT_EQ(in_short(count({sum, three, {{"dp", "pp"}}})), "3 to 2; 2 all-reduces over dp and pp in one");
  EXPECT_EQ(in_short(count({
                         sum, three, {{"dp", "pp"}, {"pp", "tp"}}
  }))
                .substr(0, 6),
            "3 to 2");
}

TEST(Merge, AStepOverSeveralAxesIsNamedByAll) {
  const Trace two = {step("all-reduce", {"dp", "pp"}, 32, 32), step("all-reduce", {"tp"}, 32, 32)};
  EXPECT_EQ(in_short(count({sum, two, {{"dp", "pp", "tp"}}})),
            "2 to 1; 2 all-reduces over dp.pp and tp in one");
  const Trace again = {step("all-reduce", {"dp", "pp"}, 32, 32), step("all-reduce", {"pp"}, 32, 32)};
  EXPECT_EQ(in_short(count({sum, again, {{"dp", "pp"}}})), "2 to 2") << "no group has an axis twice";
}

TEST(Merge, NothingMergesWithoutItsGroup) {
  EXPECT_EQ(in_short(count({sum, three, {}})), "3 to 3");
  EXPECT_EQ(in_short(count({sum, three, {{"dp", "tp"}}})), "3 to 3") << "dp and tp are not consecutive";
}

TEST(Merge, NamesOfAGroupStandInAnyOrderAndAxesOfOneDeviceDoNotCount) {
  const std::string unit = "on dp=2,cp=1,tp=2: reshard f32[8]+dp.tp -> f32[8]";
  const Trace two = {step("all-reduce", {"tp"}, 32, 32), step("all-reduce", {"dp"}, 32, 32)};
  EXPECT_EQ(in_short(count({unit, two, {{"tp", "cp", "dp"}}})).substr(0, 6), "2 to 1");
}

TEST(Merge, AStepThatNoCollectiveShowsKeepsGathersApart) {
  const Trace gathers = {step("all-gather", {"tp"}, 4, 8), step("all-gather", {"dp"}, 8, 16)};
  EXPECT_EQ(in_short(count({mesh + "f32[8@dp.pp.tp] -> f32[8@pp]", gathers, {{"dp", "tp"}}})).substr(0, 6),
            "2 to 1");
  EXPECT_EQ(in_short(count({mesh + "f32[8@dp.pp.tp] -> f32[8]+pp", gathers, {{"dp", "tp"}}})), "2 to 2");
}

TEST(Merge, WhatHappensInBetweenKeepsThemApart) {
  const std::string scatter = mesh + "f32[8]+dp.pp.tp -> f32[8@pp]";
  const Trace apart = {step("all-reduce", {"dp"}, 32, 32), step("reduce-scatter", {"pp"}, 32, 16),
                       step("all-reduce", {"tp"}, 16, 16)};
  EXPECT_EQ(in_short(count({
                scatter, apart, {{"dp", "tp"}, {"dp", "pp", "tp"}}
  })),
            "3 to 3");
  const Trace sliced = {step("all-reduce", {"dp"}, 32, 32), step("all-reduce", {"tp"}, 16, 16)};
  EXPECT_EQ(in_short(count({mesh + "f32[8]+dp.tp -> f32[8@pp]", sliced, {{"dp", "tp"}}})), "2 to 2");
}

TEST(Merge, ScattersToOneDimensionInMeshOrderEvenly) {
  const Trace down = {step("reduce-scatter", {"dp"}, 32, 16), step("reduce-scatter", {"pp"}, 16, 8)};
  const Trace up = {step("reduce-scatter", {"pp"}, 32, 16), step("reduce-scatter", {"dp"}, 16, 8)};
  const std::vector<Axes> group = {
      {"dp", "pp"}
  };
  EXPECT_EQ(in_short(count({mesh + "f32[8]+dp.pp -> f32[8@dp.pp]", down, group})),
            "2 to 1; 2 reduce-scatters over dp and pp in one");
  EXPECT_EQ(in_short(count({mesh + "f32[8]+dp.pp -> f32[8@dp.pp]", up, group})), "2 to 2");
  EXPECT_EQ(in_short(count({mesh + "f32[8]+dp.pp -> f32[8@pp.dp]", up, group})), "2 to 2");
  EXPECT_EQ(in_short(count({mesh + "f32[7]+dp.pp -> f32[7@dp.pp]", down, group})), "2 to 2") << "uneven";
  EXPECT_EQ(in_short(count({mesh + "f32[8,8]+dp.pp -> f32[8@dp,8@pp]", down, group})), "2 to 2")
      << "two dimensions";
}

TEST(Merge, GathersComeInnermostFirst) {
  const Trace up = {step("all-gather", {"pp"}, 8, 16), step("all-gather", {"dp"}, 16, 32)};
  const std::vector<Axes> group = {
      {"dp", "pp"}
  };
  EXPECT_EQ(in_short(count({mesh + "f32[8@dp.pp] -> f32[8]", up, group})),
            "2 to 1; 2 all-gathers over pp and dp in one");
  EXPECT_EQ(in_short(count({mesh + "f32[8@pp.dp] -> f32[8]", up, group})), "2 to 2");
  EXPECT_EQ(in_short(count({mesh + "f32[5@dp.pp] -> f32[5]", up, group})), "2 to 2") << "uneven";
  const Trace moved = {step("all-to-all", {"pp"}, 8, 8), up[0], up[1]};
  EXPECT_EQ(in_short(count({mesh + "f32[8,8@dp.pp] -> f32[8,8]", moved, group})), "3 to 3")
      << "what moved is not known";
}

// After scatters and before gathers it may be over their own axes, or between devices that are no fibre.
TEST(Merge, AnAllReduceMovesNothingBetweenDimensions) {
  const std::vector<Axes> group = {
      {"dp", "pp"}
  };
  const auto beside = [&](const Collective& other) {
    const Trace scatters = {step("reduce-scatter", {"dp"}, 32, 16), step("reduce-scatter", {"pp"}, 16, 8),
                            other};
    const Trace gathers = {other, step("all-gather", {"pp"}, 8, 16), step("all-gather", {"dp"}, 16, 32)};
    const std::string of_gathers = in_short(count({mesh + "f32[8@dp.pp] -> f32[8]", gathers, group}));
    const std::string of_scatters = in_short(count({mesh + "f32[8]+dp.pp -> f32[8@dp.pp]", scatters, group}));
    EXPECT_EQ(of_scatters.substr(0, 6), of_gathers.substr(0, 6));
    return of_gathers.substr(0, 6);
  };
  for (const char* axis : {"dp", "pp"}) {
    EXPECT_EQ(beside(step("all-reduce", {axis}, 8, 8)), "3 to 2") << axis;
    EXPECT_EQ(beside(step("all-to-all", {axis}, 8, 8)), "3 to 3") << axis;
  }
  EXPECT_EQ(beside(step("all-to-all", {"tp"}, 8, 8)), "3 to 2") << "of other axes";
  for (const auto& [kind, count] : {
           std::pair{"all-reduce", "3 to 2"},
           {"all-to-all", "3 to 3"}
  }) {
    Collective crosswise = step(kind, {}, 8, 8);
    crosswise.groups = {
        {0, 3},
        {1, 2},
        {4, 7},
        {5, 6}
    };
    EXPECT_EQ(beside(crosswise), count) << kind << " between devices that are no fibre";
  }
}

TEST(Merge, SumsAndAveragesMixOtherReductionsDoNot) {
  Trace two = {three[0], three[1]};
  two[1].op = "avg";
  EXPECT_EQ(in_short(count({sum, two, {{"dp", "pp"}}})).substr(0, 6), "2 to 1");
  two[0].op = "max";
  EXPECT_EQ(in_short(count({sum, two, {{"dp", "pp"}}})), "2 to 2");
}

// A collective of a loop is no run of several: nothing takes its rounds together.
TEST(Merge, EachRoundOfALoopCounts) {
  Trace sums = three;
  sums[1].times = 5;
  for (const std::vector<Axes>& groups : {std::vector<Axes>{}, {{"pp"}}, {{"dp", "pp"}}})
    EXPECT_EQ(in_short(count({sum, sums, groups})), "7 to 7");
}

// Groups of some devices alone, as a program of uneven blocks has them: the device with most counts.
TEST(Merge, EachDeviceCountsItsOwn) {
  Trace trace = {step("all-reduce", {}, 32, 32), step("all-reduce", {}, 32, 32)};
  trace[0].groups =
      {
          {0, 1}
  },
  trace[1].groups = {{0, 2}};
  const std::string line = "on x=2,y=2: reshard f32[8]+x.y -> f32[8]";
  EXPECT_EQ(in_short(count({line, trace, {{"x", "y"}}})).substr(0, 6), "2 to 1");
  trace[1].groups = {
      {2, 3}
  };
  EXPECT_EQ(in_short(count({line, trace, {{"x", "y"}}})), "1 to 1");
}

TEST(Merge, GathersOfAProductMayBeOfEitherOperand) {
  const Trace gathers = {step("all-gather", {"pp"}, 8, 16), step("all-gather", {"dp"}, 16, 32)};
  const std::vector<Axes> group = {
      {"dp", "pp"}
  };
  EXPECT_EQ(in_short(count(
                {"on dp=2,pp=2,tp=2: einsum mk,kn->mn f32[8@dp.pp,4] f32[4,4] -> f32[8,4]", gathers, group})),
            "2 to 2");
}

TEST(Merge, APermuteCountsForThoseThatSendOrReceive) {
  const auto permutes = [](std::vector<std::pair<std::int64_t, std::int64_t>> first,
                           std::vector<std::pair<std::int64_t, std::int64_t>> second) {
    Trace trace = {step("collective-permute", {}, 32, 32), step("collective-permute", {}, 32, 32)};
    trace[0].pairs = first, trace[1].pairs = second;
    return in_short(count({"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]", trace, {}}));
  };
  EXPECT_EQ(permutes(
                {
                    {0, 1}
  },
                {{2, 3}}),
            "1 to 1")
      << "no device takes part in both";
  EXPECT_EQ(permutes(
                {
                    {0, 1}
  },
                {{1, 2}}),
            "2 to 2")
      << "device 1 receives, then sends";
  EXPECT_EQ(permutes(
                {
                    {0, 1},
                    {2, 3}
  },
                {{3, 2}}),
            "2 to 2");
  EXPECT_EQ(permutes(
                {
                    {0, 0}
  },
                {{1, 1}}),
            "0 to 0")
      << "nothing leaves its device";
}

}  // namespace
}  // namespace plumb
