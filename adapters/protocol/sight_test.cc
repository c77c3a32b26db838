#include "adapters/protocol/sight.h"

#include <gtest/gtest.h>

#include <random>

namespace plumb {
namespace {

// Ways there and back of any length, and another clock that is ahead by as much as it likes.
TEST(Sight, TheTrueOffsetIsNoFurtherThanTheError) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % most); };
  for (int draw = 0; draw < 2000; ++draw) {
    const std::int64_t ahead = below(2'000'000'000) - 1'000'000'000;
    std::vector<Ping> pings;
    std::int64_t now = below(1'000'000'000), shortest = 1'000'000;
    for (int i = 0; i < 1 + draw % 9; ++i) {
      const std::int64_t there = below(90'000), back = below(90'000);
      pings.push_back({now, now + there + ahead, now + there + back});
      now += there + back + below(1000);
      shortest = std::min(shortest, there + back);
    }
    const Sight seen = best_sight(pings);
    EXPECT_LE(std::abs(seen.offset - ahead), seen.error);
    EXPECT_LE(seen.error, shortest / 2 + 1) << "a longer way was taken";
  }
}

}  // namespace
}  // namespace plumb
