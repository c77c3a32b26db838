#include "harness/backend/wall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/protocol/clocked.h"
#include "adapters/protocol/message.h"

namespace plumb {
namespace {

using testing::HasSubstr;

constexpr std::int64_t ours = 5, theirs = 7;

// Why clocks cannot be; empty where they can.
std::string refused(const std::vector<Clocked>& clocks, const Wall& wall, const Rates& rates = {}) {
  try {
    check_wall(clocks, rates, wall);
    return "";
  } catch (const Malformed& error) {
    return error.what();
  }
}

// Every pair of moments around a request that was sent at 100 and answered at 110.
TEST(Wall, WhatIsOnTheOwnClockLiesWithinTheRequest) {
  const Wall wall{100, 110, ours, 0.5};
  for (std::int64_t enter = 98; enter <= 112; ++enter)
    for (std::int64_t leave = enter; leave <= 112; ++leave) {
      const std::string why = refused({{ours, {enter}, {leave}}}, wall);
      EXPECT_EQ(why.empty(), enter >= 100 && leave <= 110) << enter << " " << leave << why;
      EXPECT_EQ(why.find("the harness's own") == why.npos, why.empty());
    }
}

TEST(Wall, ByAnotherClockNoMoreTimeWentByThanTheRequestTook) {
  for (std::int64_t begin : {std::int64_t{0}, std::int64_t{1'000'000'000'000}})
    for (std::int64_t took = 1; took <= 30; ++took) {
      const std::vector<Clocked> clocks{{theirs, {begin, begin + took / 2}, {begin + took / 2, begin + took}}};
      EXPECT_EQ(refused(clocks, {100, 110, ours, 0}).empty(), took <= 10) << took;
      EXPECT_EQ(refused(clocks, {100, 110, ours, 0.5}).empty(), took <= 20) << "it may go twice as fast: " << took;
      EXPECT_EQ(refused(clocks, {100, 110, ours, 1}), "") << "nobody knows how fast it may go";
    }
  EXPECT_THAT(refused({{theirs, {0}, {std::int64_t{1} << 62}}}, {0, 2'000'000'000, ours, 0.001}),
              HasSubstr("the clock of rank 0: from the first entry to the last leaving 4.612e+09 s went by, and the request took 2 s, "
                        "and kernels let two clocks be 1000 parts of a million apart"));
}

TEST(Wall, RanksOfOneClockAreOneAfterTheOtherOnIt) {
  const Wall wall{100, 110, ours, 0};
  EXPECT_EQ(refused({{theirs, {1003}, {1004}}, {theirs, {1005}, {1013}}}, wall), "");
  EXPECT_THAT(refused({{theirs, {1003}, {1004}}, {theirs, {0}, {0}}}, wall), HasSubstr("the clock of rank 0: ")) << "one says nothing of it";
  EXPECT_EQ(refused({{theirs, {1003}, {1004}}, {theirs + 1, {0}, {0}}}, wall), "") << "offsets of clocks do not matter";
}

TEST(Wall, WhatCameLateSaysNoTime) {
  const Wall wall{100, 110, ours, 0};
  EXPECT_EQ(refused({{ours, {-1, 103}, {-1, 104}}, {theirs, {-1, -1}, {-1, -1}}}, wall), "");
}

// The other clock is by a tenth faster, as it saw; each of what it saw is wrong by one at most.
TEST(Wall, AClockThatIsFasterMayGoByAsMuchAsItSaw) {
  Clocked first{ours, {100'000}, {101'000}}, other{theirs, {0}, {1'099}};
  other.before = {0, 100'000, 1}, other.after = {1'100, 99'900, 1};
  const Wall wall{100'000, 101'000, ours, 0};
  EXPECT_THAT(refused({first, other}, wall), HasSubstr("the clock of rank 1: ")) << "nobody compared them";
  EXPECT_EQ(refused({first, other}, wall, rates_of({first, other})), "");
  other.leave = {1'105};
  EXPECT_THAT(refused({first, other}, wall, rates_of({first, other})), HasSubstr("runs 1.100000 times as fast as the first one's"));
  first.clock = theirs + 1, other.leave = {1'200};
  EXPECT_EQ(refused({first, other}, {100'000, 101'000, ours, 0.1}, rates_of({first, other})), "") << "nor is the first one's the own";
}

TEST(Wall, WhoSawNothingHasNoRate) {
  Clocked first{ours, {}, {}}, other{theirs, {}, {}};
  EXPECT_TRUE(rates_of({first, other}).empty());
  other.before = {0, 5, 1}, other.after = {0, 9, 1};
  EXPECT_TRUE(rates_of({first, other}).empty()) << "at once";
  other.after.at = 4;
  EXPECT_EQ(rates_of({first, other}).at(theirs).gains, 1);
  EXPECT_EQ(rates_of({first, other}).at(theirs).error, 0.5);
}

TEST(Wall, TheOwnClockIsThatOfRanksHere) {
  const std::int64_t before = machine_time();
  const Wall wall = wall_since(before);
  EXPECT_EQ(wall.clock, this_clock());
  EXPECT_GE(wall.received, before);
  EXPECT_GT(wall.apart, 0);
  EXPECT_LE(wall.apart, 1);
}

}  // namespace
}  // namespace plumb
