#include "harness/measure/crowded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/protocol/places.h"

namespace plumb {
namespace {

struct Crowd {
  std::vector<RankPlace> ranks;
  const char* says;
};

TEST(Crowded, RanksThatMayRunOnFewerCoresThanTheyAreShareThem) {
  const Crowd crowds[] = {
      {{{"a", "0-1"}},                                                         ""                    },
      {{{"a", "0-1"}, {"a", "0-1"}},                                           ""                    },
      {{{"a", "0-1"}, {"a", "0-1"}, {"a", "0-1"}},                             "3 ranks share 2 cores"},
      {{{"a", "0-1"}, {"b", "0-1"}, {"a", "0-1"}, {"b", "0-1"}},               ""                    },
      {{{"a", "0"}, {"a", "1"}, {"a", "2"}},                                   ""                    },
      {{{"a", "0"}, {"a", "1"}, {"a", "0"}, {"a", "5-9"}},                     "2 ranks share 1 core" },
      {{{"a", "0"}, {"a", "1"}, {"a", "0,1"}, {"a", "3-5"}},                   "3 ranks share 2 cores"},
      {{{"a", "0-1"}, {"a", "0-1"}, {"a", "0-1"}, {"a", "4"}, {"a", "4"}},     "5 ranks share 3 cores"},
      {{{"a", "any"}, {"a", "any"}},                                           ""                    },
  };
  for (const auto& [ranks, says] : crowds)
    EXPECT_EQ(shared_cores(places_in_words(ranks), std::ssize(ranks)), says) << testing::PrintToString(places_in_words(ranks));
}

TEST(Crowded, OfNoMoreRanksThanTheCaseHas) {
  const std::vector<std::string> places{"0-7: host 0, cores 0-3"};
  EXPECT_EQ(shared_cores(places, 4), "");
  EXPECT_EQ(shared_cores(places, 5), "5 ranks share 4 cores");
}

TEST(Crowded, WhatIsNoPlaceSaysNothing) {
  for (const char* one : {"", "0-3", "0-3: host 0", "0-3: host 0, cores some", "all: host 0, cores 0", "0-3: host 0, cores 1-", ", cores 0: "})
    EXPECT_EQ(shared_cores({one}, 4), "") << one;
}

}  // namespace
}  // namespace plumb
