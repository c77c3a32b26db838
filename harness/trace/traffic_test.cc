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

}  // namespace
}  // namespace plumb
