#include "harness/trace/replica_safe.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

Collective step(const std::string& kind, std::vector<std::string> axes) {
  Collective one;
  one.kind = kind, one.axes = std::move(axes);
  return one;
}
Collective all_reduce(std::vector<std::string> axes) { return step("all-reduce", std::move(axes)); }
Collective scatter(std::vector<std::string> axes) { return step("reduce-scatter", std::move(axes)); }
Collective gather(std::vector<std::string> axes) { return step("all-gather", std::move(axes)); }

std::string safe(const std::string& line, const Trace& trace) {
  const auto answer = replica_safe(parse_case(line), trace);
  return !answer ? "-" : *answer ? "yes" : "no";
}

const std::string xy = "on x=2,y=2: reshard ", xyz = "on x=2,y=2,z=2: reshard ";

TEST(ReplicaSafe, OneReductionForAllWhoHoldTheSame) {
  EXPECT_EQ(safe(xy + "f32[8]+x.y -> f32[8]", {all_reduce({"x", "y"})}), "yes");
  EXPECT_EQ(safe(xy + "f32[8]+x.y -> f32[8]", {all_reduce({"x"}), all_reduce({"y"})}), "no");
  EXPECT_EQ(safe(xy + "f32[8]+x -> f32[8]", {all_reduce({"x"})}), "no") << "each fibre of x takes its own sum";
}

TEST(ReplicaSafe, ScatterThenReduceIsSafeReduceThenScatterIsNot) {
  const std::string line = xy + "f32[8]+x.y -> f32[8@x]";
  EXPECT_EQ(safe(line, {scatter({"x"}), all_reduce({"y"})}), "yes");
  EXPECT_EQ(safe(line, {all_reduce({"y"}), scatter({"x"})}), "no");
}

// The gradient of a norm's weight under DDP, FSDP and TP: pytorch/pytorch#171913.
TEST(ReplicaSafe, PartialOverThreeAxesToOneShard) {
  const std::string line = xyz + "f32[8]+x.y.z -> f32[8@y]";
  EXPECT_EQ(safe(line, {all_reduce({"x"}), scatter({"y"}), all_reduce({"z"})}), "no");
  EXPECT_EQ(safe(line, {scatter({"y"}), all_reduce({"x"}), all_reduce({"z"})}), "no");
  EXPECT_EQ(safe(line, {scatter({"y"}), all_reduce({"x", "z"})}), "yes");
}

TEST(ReplicaSafe, WhatIsGatheredFromOneReductionIsTheSameForAll) {
  const std::string line = xy + "f32[8@x]+y -> f32[8]";
  EXPECT_EQ(safe(line, {all_reduce({"y"}), gather({"x"})}), "yes");
  EXPECT_EQ(safe(line, {gather({"x"}), all_reduce({"y"})}), "no");
}

// Some of those who hold one sum may move it among them; of two sums they make another.
TEST(ReplicaSafe, AMoveAmongSomeKeepsTheSumThatAllOfThemHold) {
  Collective some = step("all-gather", {});
  some.groups = {
      {0, 1},
      {2},
      {3}
  };
  EXPECT_EQ(safe(xy + "f32[8]+x.y -> f32[8]", {all_reduce({"x", "y"}), some}), "yes");
  EXPECT_EQ(safe("on x=4: reshard f32[8]+x -> f32[8]", {all_reduce({"x"}), some}), "yes");
  const std::string line = xy + "f32[8]+x -> f32[8@x]";
  EXPECT_EQ(safe(line, {all_reduce({"x"}), some}), "no") << "devices 0 and 1 hold both sums, 2 and 3 one each";
  some.groups[0] = {1, 0};
  EXPECT_EQ(safe(xy + "f32[1]+x -> f32[1@y]", {all_reduce({"x"}), some}), "no")
      << "device 0 has another's sum too";
}

TEST(ReplicaSafe, NothingToSay) {
  EXPECT_EQ(safe(xy + "f32[8@x] -> f32[8]", {gather({"x"})}), "-") << "nothing is reduced";
  EXPECT_EQ(safe(xy + "f32[8]+x.y -> f32[8@x.y]", {scatter({"x", "y"})}), "-") << "no replicas";
  EXPECT_EQ(safe(xy + "f32[8]+x -> f32[8]", {all_reduce({"x"}), step("send", {})}), "-")
      << "who takes part is not said";
  EXPECT_EQ(safe("on x=4: reshard f32[2]+x -> f32[2@x]", {scatter({"x"})}), "-")
      << "empty blocks are no replicas";
}

TEST(ReplicaSafe, APermuteTakesTheTagAlong) {
  Collective swap = step("collective-permute", {});
  swap.pairs = {
      {2, 1},
      {1, 2}
  };
  const std::string line = xy + "f32[8]+y -> f32[8]";
  EXPECT_EQ(safe(line, {all_reduce({"y"})}), "no");
  EXPECT_EQ(safe(line, {all_reduce({"y"}), swap}), "no");
  swap.pairs = {
      {0, 2},
      {1, 3}
  };
  EXPECT_EQ(safe(line, {all_reduce({"y"}), swap}), "yes") << "the second fibre got the first one's sum";
}

}  // namespace
}  // namespace plumb
