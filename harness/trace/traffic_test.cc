#include "harness/trace/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

Collective one(const std::string& kind, const std::string& axis, std::int64_t in, std::int64_t out) {
  return {.kind = kind, .axes = {axis}, .in = in, .out = out};
}

TEST(Traffic, EachDeviceLearnsNoMoreThanItsResult) {
  const Mesh mesh = parse_mesh("x=4");
  using testing::ElementsAre;
  EXPECT_THAT(most_received(mesh, {one("all-gather", "x", 16, 64)}), ElementsAre(48, 48, 48, 48));
  EXPECT_THAT(most_received(mesh, {one("all-to-all", "x", 64, 64)}), ElementsAre(48, 48, 48, 48));
  EXPECT_THAT(most_received(mesh, {one("reduce-scatter", "x", 64, 16)}), ElementsAre(16, 16, 16, 16));
  const Collective pairs{
      .kind = "collective-permute", .pairs = {{0, 1}, {2, 2}},
           .in = 8, .out = 8, .times = 3
  };
  EXPECT_THAT(most_received(mesh, {pairs}), ElementsAre(0, 24, 0, 0));
  EXPECT_THAT(most_received(mesh, {{.kind = "send"}}), testing::IsEmpty());
  EXPECT_THAT(most_received(mesh, {one("send", "x", 16, 24)}), ElementsAre(24, 24, 24, 24));
  EXPECT_THAT(most_received(mesh, {one("send", "x", 16, 0)}), testing::IsEmpty());
}

TEST(Traffic, WhatSeveralAreGivenIsBroughtToThemOnce) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  const auto brought = [&](Collective one) {
    if (one.axes == std::vector<std::string>{"both"}) one.axes = {"x", "y"};
    return most_brought(mesh,
                        {
                            {0, 1},
                            {2, 3}
    },
                        {one});
  };
  using testing::ElementsAre;
  EXPECT_THAT(brought(one("all-gather", "both", 16, 64)), ElementsAre(32, 32));
  EXPECT_THAT(brought(one("all-gather", "x", 16, 32)), ElementsAre(32, 32)) << "of two groups";
  EXPECT_THAT(brought(one("all-gather", "y", 16, 32)), ElementsAre(0, 0)) << "of its own";
  EXPECT_THAT(brought(one("all-gather", "both", 16, 60)), ElementsAre(32, 32)) << "uneven blocks";
  EXPECT_THAT(brought(one("all-gather", "both", 16, 20)), ElementsAre(20, 20)) << "no more than there is";
  EXPECT_THAT(brought(one("all-reduce", "both", 64, 64)), ElementsAre(64, 64));
  EXPECT_THAT(brought(one("reduce-scatter", "both", 64, 16)), ElementsAre(32, 32)) << "of each another piece";
  EXPECT_THAT(brought(one("all-to-all", "both", 64, 64)), ElementsAre(64, 64)) << "half of both";
  EXPECT_THAT(brought({.kind = "all-to-all", .groups = {{0, 1, 2}}, .in = 12, .out = 12}), ElementsAre(8, 8));
  EXPECT_THAT(brought({.kind = "all-gather", .in = 16, .out = 32}), ElementsAre(32, 32)) << "of anybody";
  EXPECT_THAT(brought({.kind = "send", .axes = {"x"}, .in = 16}), testing::IsEmpty());
  Collective counted = one("all-gather", "x", 16, 64);
  counted.axes = {"x", "y"};
  counted.moved = 192;
  EXPECT_THAT(brought(counted), ElementsAre(32, 32)) << "counted or not";
  EXPECT_THAT(most_received(mesh, {counted}), ElementsAre(48, 48, 48, 48));
  counted.moved = 20;
  EXPECT_THAT(brought(counted), ElementsAre(20, 20)) << "and no more than it moved";
  EXPECT_THAT(most_received(mesh, {counted}), ElementsAre(20, 20, 20, 20));
  counted.moved = -1;
  EXPECT_THAT(brought(counted), testing::IsEmpty()) << "nobody knows how often";
  counted.moved = 192, counted.kind = "all-to-all";
  EXPECT_THAT(brought(counted), ElementsAre(128, 128)) << "each may have kept another piece";
  Collective pairs{
      .kind = "collective-permute", .pairs = {{0, 1}, {0, 2}, {1, 3}},
           .in = 8, .out = 8, .times = 3
  };
  EXPECT_THAT(brought(pairs), ElementsAre(0, 48));
}

// The halves of x=2,y=2 along x: 0 and 1, 2 and 3.
TEST(Traffic, WhatASetDidNotHaveComesAfterSomeOfItWasBroughtIt) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  const auto brought = [&](const Trace& trace) {
    return most_from_others(mesh,
                            {
                                {0, 1},
                                {2, 3}
    },
                            trace);
  };
  using testing::ElementsAre;
  const Collective within = one("all-gather", "y", 16, 32), across = one("all-gather", "x", 16, 32);
  EXPECT_THAT(brought({within}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(brought({within, across}), ElementsAre(16, 16, 16, 16));
  EXPECT_THAT(brought({across, within}), ElementsAre(32, 32, 32, 32));
  EXPECT_THAT(brought({across, one("reduce-scatter", "y", 32, 8)}), ElementsAre(24, 24, 24, 24));
  Collective all = one("all-gather", "x", 16, 64);
  all.axes = {"x", "y"};
  EXPECT_THAT(brought({all}), ElementsAre(32, 32, 32, 32)) << "of the other half";
  EXPECT_THAT(brought({all, within}), ElementsAre(48, 48, 48, 48));
  all.kind = "all-to-all", all.in = 64;
  EXPECT_THAT(brought({all}), ElementsAre(32, 32, 32, 32));
  all.moved = 192;
  EXPECT_THAT(brought({all}), ElementsAre(64, 64, 64, 64)) << "each may have kept another piece";
  all.moved = 20;
  EXPECT_THAT(brought({all}), ElementsAre(20, 20, 20, 20));
  const Collective one_way{
      .kind = "collective-permute", .pairs = {{0, 2}, {3, 3}},
           .in = 8, .out = 8
  };
  EXPECT_THAT(brought({within, one_way}), ElementsAre(0, 0, 8, 0));
  EXPECT_THAT(brought({one_way, within}), ElementsAre(0, 0, 8, 16))
      << "device 2 has only its own of device 3";
  Collective loop = within;
  loop.times = 2;
  EXPECT_THAT(brought({loop, across}), testing::IsEmpty()) << "the second may follow what came across";
  EXPECT_THAT(brought({
                  {.kind = "send", .in = 16, .out = 24}
  }),
              testing::IsEmpty())
      << "between any devices";
  EXPECT_THAT(brought({
                  {.kind = "send", .axes = {"x"}, .in = 16}
  }),
              testing::IsEmpty());
}

}  // namespace
}  // namespace plumb
