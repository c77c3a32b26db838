#include "harness/measure/clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/samples.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A second rank whose clock is 5 ms behind the first's at its own 1 s, and loses 100 us a second; both sights
// are true within 2 us. Its iterations begin `late` after the first rank's, by the true time.
std::vector<Clocked> apart(std::int64_t late) {
  Clocked first{1, {}, {}}, second{2, {}, {}};
  second.before = {1'000'000'000, 5'000'000, 2'000};
  second.after = {2'000'000'000, 5'100'000, 2'000};
  for (std::int64_t at : {1'200'000'000, 1'500'000'000, 1'900'000'000}) {
    const std::int64_t on_first = at + 5'000'000 + (at - 1'000'000'000) / 10'000;
    first.enter.push_back(on_first - late), first.leave.push_back(on_first + 10'000);
    second.enter.push_back(at), second.leave.push_back(at + 10'000);
  }
  return {first, second};
}

TEST(Clocks, OffsetAndDriftAreFoundAgainWithinTheirErrors) {
  const auto seen = clocks_seen(apart(0));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].rank, 1);
  EXPECT_EQ(seen[0].offset, 5'000'000);
  EXPECT_EQ(seen[0].error, 2'000);
  EXPECT_EQ(seen[0].drift, 100'000);
  EXPECT_EQ(seen[0].drift_error, 4'000);
}

TEST(Clocks, RanksOfOneHostAreSaidOnce) {
  auto all = apart(0);
  all.push_back(all[1]), all.push_back(all[0]);
  EXPECT_EQ(clocks_seen(all).size(), 1U);
  all[1].before.error = 0;
  EXPECT_THAT(clocks_seen({all[0], all[1]}), IsEmpty()) << "it saw nothing";
  EXPECT_THAT(clocks_seen({all[0], all[0]}), IsEmpty());
}

TEST(Clocks, SkewIsTakenOnOneClockAndNotReportedBelowItsError) {
  EXPECT_THAT(samples(apart(9'000), 1).skew, ElementsAre(9'000, 9'000, 9'000));
  EXPECT_THAT(samples(apart(1'000), 1).skew, IsEmpty());
  auto unseen = apart(9'000);
  unseen[1].after.error = 0;
  EXPECT_THAT(samples(unseen, 1).skew, IsEmpty());
}

}  // namespace
}  // namespace plumb
