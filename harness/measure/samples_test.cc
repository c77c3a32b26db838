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

TEST(Samples, OfSeveralClocksNoSkewIsKnown) {
  auto apart = clocks;
  apart[1].clock = 8;
  EXPECT_THAT(samples(apart, 1).skew, IsEmpty());
  EXPECT_THAT(samples(apart, 1).nanoseconds, ElementsAre(30, 60, 20));
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

}  // namespace
}  // namespace plumb
