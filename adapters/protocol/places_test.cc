#include "adapters/protocol/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Places, RanksThatRunAlikeAreOneLine) {
  EXPECT_THAT(places_in_words({}), IsEmpty());
  EXPECT_THAT(places_in_words({
                  {"b", "0-1"},
                  {"b", "0-1"},
                  {"a", "0-1"},
                  {"b", "2"  },
                  {"b", "3"  }
  }),
              ElementsAre("0-1: host 0, cores 0-1", "2: host 1, cores 0-1", "3: host 0, cores 2",
                          "4: host 0, cores 3"));
}

TEST(Places, CoresAreThoseOnWhichAProcessMayRun) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::size_t last = 0;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &before)) last = i;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(cores_of_this_process(), std::to_string(last));
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace plumb
