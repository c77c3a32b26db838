#include "harness/measure/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Clocked> clocks{
    {7, {100, 200, 300}, {110, 260, 320}},
    {7, {104, 190, 301}, {134, 250, 321}},
};

TEST(Samples, AnIterationTakesAsLongAsItsSlowestRank) {
  const Samples all = samples(clocks, 1);
  EXPECT_THAT(all.nanoseconds, ElementsAre(30, 60, 20));
  EXPECT_THAT(all.slowest, ElementsAre(1, 0, 0));
  EXPECT_THAT(all.skew, ElementsAre(4, 10, 1));
  EXPECT_EQ(all.span, 220);
  EXPECT_EQ(all.late, 0);
  EXPECT_THAT(samples(clocks, 10).nanoseconds, ElementsAre(3, 6, 2));
}

TEST(Samples, WhatSomebodyBeganLateIsDroppedAndCounted) {
  auto late = clocks;
  late[1].enter[1] = late[1].leave[1] = -1;
  const Samples all = samples(late, 1);
  EXPECT_THAT(all.nanoseconds, ElementsAre(30, 20));
  EXPECT_EQ(all.late, 1);
}

// 30 ns, then none by either clock, then 20.
TEST(Samples, WhatTookNoTimeIsLeftOutAndCounted) {
  auto coarse = clocks;
  for (Clocked& c : coarse) c.leave[1] = c.enter[1];
  Samples all = samples(coarse, 1);
  EXPECT_THAT(all.nanoseconds, ElementsAre(30, 20));
  EXPECT_THAT(all.slowest, ElementsAre(1, 0));
  EXPECT_EQ(all.unseen, 1);
  take_in(all, samples(coarse, 1));
  EXPECT_EQ(all.unseen, 2);
}

TEST(Samples, OfSeveralClocksNoSkewIsKnown) {
  auto apart = clocks;
  apart[1].clock = 8;
  EXPECT_THAT(samples(apart, 1).skew, IsEmpty());
  EXPECT_THAT(samples(apart, 1).nanoseconds, ElementsAre(30, 60, 20));
}

// Of each two requests: what one does not know of its iterations nobody knows of both.
TEST(Samples, OfRequestsThereIsASkewOfEachIterationOrOfNone) {
  auto apart = clocks;
  apart[1].clock = 8;
  const Samples none, known = samples(clocks, 1), unknown = samples(apart, 1);
  for (const Samples* first : {&none, &known, &unknown})
    for (const Samples* second : {&none, &known, &unknown}) {
      Samples all = *first;
      take_in(all, *second);
      EXPECT_EQ(all.nanoseconds.size(), first->nanoseconds.size() + second->nanoseconds.size());
      const bool knows = first != &unknown && second != &unknown;
      EXPECT_EQ(all.skew.size(), knows ? all.nanoseconds.size() : 0);
    }
}

TEST(Samples, WhatEachRankSaidIsKeptRequestAfterRequest) {
  Samples all;
  keep(all, clocks), keep(all, {
                                   {7, {400}, {410}},
                                   {7, {-1},  {-1} }
  });
  ASSERT_EQ(all.ranks.size(), 2U);
  EXPECT_EQ(all.ranks[0].clock, 7);
  EXPECT_THAT(all.ranks[0].enter, ElementsAre(100, 200, 300, 400));
  EXPECT_THAT(all.ranks[1].leave, ElementsAre(134, 250, 321, -1));
}

TEST(Samples, TheRankThatLagsIsTheSlowestOfMost) {
  Samples all = samples(clocks, 1);
  EXPECT_EQ(laggard(all).rank, 0);
  take_in(all, samples(
                   {
                       {7, {1, 2, 3}, {2, 3, 4}},
                       {7, {1, 2, 3}, {9, 9, 9}}
  },
                   1));
  EXPECT_EQ(laggard(all).rank, 1);
  EXPECT_EQ(laggard(all).share, 4 / 6.0);
  EXPECT_EQ(all.nanoseconds.size(), 6U);
  EXPECT_EQ(laggard({}).rank, -1);
  EXPECT_THAT(samples({}, 1).nanoseconds, IsEmpty());
}

// Who comes late to a collective is waited for inside, and all take as long.
TEST(Samples, TheRankForWhichTheOthersWaitIsLongestOutsideOfItsCollectives) {
  const std::vector<Clocked> run{
      {7, {100, 110, 300},   {100, 290, 300}  },
      {8, {900, 1080, 1110}, {900, 1095, 1110}}
  };
  EXPECT_THAT(own_times(run), ElementsAre(20, 195));
  EXPECT_THAT(own_times({}), IsEmpty());
  EXPECT_THAT(own_times({{}}), ElementsAre(0));

  using Runs = std::vector<std::vector<std::int64_t>>;
  const Runs late(4, {20, 195, 30});
  const auto who = waited_for(late);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->rank, 1);
  EXPECT_EQ(who->least, 195);
  EXPECT_EQ(who->others, 30);

  EXPECT_FALSE(waited_for({}));
  EXPECT_FALSE(waited_for(Runs(3, {20, 195, 30}))) << "too few";
  EXPECT_FALSE(waited_for(Runs(4, {195}))) << "nobody waits";
  EXPECT_FALSE(waited_for(Runs(4, {20, 20}))) << "neither is longer";
  for (std::size_t i = 0; i < late.size(); ++i) {
    Runs once = late;
    once[i] = {200, 195, 30};
    EXPECT_FALSE(waited_for(once)) << "another was as long once";
    once[i] = {20, 25, 30};
    EXPECT_FALSE(waited_for(once)) << "it was no longer once";
    once[i] = {20, 195};
    EXPECT_FALSE(waited_for(once)) << "other ranks";
  }
}

}  // namespace
}  // namespace plumb
