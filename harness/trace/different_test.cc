// Several devices are told as many different values as they need together.
#include "harness/trace/different.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trace/slices.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Collective over_x(const std::string& kind, std::int64_t in, std::int64_t out) {
  return {.kind = kind, .axes = {"x"}, .in = in, .out = out};
}

// What is said; where nothing is, all may have been told.
void expect_told(const std::string& line, const Trace& trace, const std::string& says) {
  const Case c = parse_case(line);
  const std::string said = told_too_little(c, held_slices(c, {}, 0), trace);
  if (says.empty())
    EXPECT_EQ(said, "") << line;
  else
    EXPECT_THAT(said, testing::HasSubstr(says)) << line;
}

// What comes to all of them is one value, whoever needs it.
TEST(Different, DevicesThatNeedDifferentSumsAreToldDifferentValues) {
  const std::string scattered = "on x=4: reshard f32[8]+x -> f32[8@x]",
                    beside = "on x=4,y=2: reshard f32[8]+x -> f32[8@x]",
                    rows = "on x=4: einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8@x,8]";
  const auto ar = [](std::int64_t bytes) { return over_x("all-reduce", bytes, bytes); };
  expect_told(scattered, {ar(8)}, "was brought at most 8 different bytes, and needs 24");
  expect_told(scattered, {ar(8), ar(8)}, "was brought at most 16 different bytes, and needs 24");
  expect_told(beside, {ar(8)}, "was brought at most 8 different bytes, and needs 24");
  expect_told(scattered, {ar(32)}, "");
  expect_told(scattered, {over_x("reduce-scatter", 32, 8)}, "");
  expect_told(rows, {ar(64)}, "was brought at most 64 different bytes, and needs 144");
  expect_told(rows, {ar(140)}, "was brought at most 140 different bytes, and needs 144");
  expect_told(rows, {ar(256)}, "");
  expect_told(rows, {over_x("reduce-scatter", 256, 64)}, "");
  expect_told(rows, {over_x("all-gather", 64, 256), over_x("all-gather", 64, 256)}, "");
}

// Of what is only moved: two devices that each have what the other needs are brought both.
TEST(Different, EachElementThatIsMovedTakesItsRoom) {
  const auto ag = [](std::int64_t in, std::int64_t out) { return over_x("all-gather", in, out); };
  const std::string joined = "on x=2: reshard f32[8@x] -> f32[8]",
                    turned = "on x=3: reshard f32[4,4@x] -> f32[4@x,4]";
  expect_told(joined, {ag(16, 32)}, "");
  expect_told(joined, {ag(16, 16)}, "was brought at most 16 different bytes, and needs 32");
  expect_told(joined, {over_x("all-reduce", 16, 16)}, "");  // each takes its own away again
  expect_told(turned, {ag(16, 16)}, "was brought at most 16 different bytes, and needs 32");
  expect_told(turned, {ag(32, 64)}, "");
  expect_told("on x=2: reshard f32[8]+x -> f32[8]", {ag(32, 64)}, "");
}

// Two parts, each on two devices, and every device needs two sums: those that lack the first part lack it of
// four. From what one collective adds up they take their own away again.
TEST(Different, PartsThatNoCollectiveAddsUpAreMoved) {
  const std::string line = "on x=2,y=2: reshard f32[8]+y -> f32[8@x.y]";
  const auto among_all = [](const std::string& kind, std::int64_t in, std::int64_t out) {
    Collective one = over_x(kind, in, out);
    one.axes = {"x", "y"};
    return one;
  };
  expect_told(line, {among_all("all-gather", 3, 12)}, "was brought at most 12 different bytes, and needs 16");
  expect_told(line, {among_all("all-gather", 4, 16)}, "");
  expect_told(line, {among_all("all-reduce", 12, 12)}, "");
}

// Each says, in its own place, what the last needs of it, less what it says in the others: the sum of all
// places is the last's.
TEST(Different, AnAllReduceOfTheSumsOfAllDevicesButOneIsEnough) {
  constexpr std::int64_t last = 3, block = 2;
  for (std::int64_t i = 0; i < block; ++i) {
    std::int64_t parts[last + 1][last + 1], in[last + 1][last], summed[last] = {}, all = 0;
    for (std::int64_t p = 0; p <= last; ++p) {
      for (std::int64_t d = 0; d <= last; ++d) parts[p][d] = (31 * p + 17 * d + 5 * i) % 23;
      for (std::int64_t d = 0; d < last; ++d) in[p][d] = parts[p][d];
      if (p < last) in[p][p] = parts[p][last] - (in[p][0] + in[p][1] + in[p][2] - in[p][p]);
      for (std::int64_t d = 0; d < last; ++d) summed[d] += in[p][d], all += in[p][d];
    }
    const auto sum = [&](std::int64_t d) { return parts[0][d] + parts[1][d] + parts[2][d] + parts[3][d]; };
    for (std::int64_t d = 0; d < last; ++d) EXPECT_EQ(summed[d] - in[d][d] + parts[d][d], sum(d));
    EXPECT_EQ(all - (in[last][0] + in[last][1] + in[last][2]) + parts[last][last], sum(last));
  }
  const std::string line = "on x=4: reshard f32[8]+x -> f32[8@x]";
  expect_told(line, {over_x("all-reduce", 24, 24)}, "");
  expect_told(line, {over_x("all-reduce", 20, 20)}, "needs 24");
}

// Three of eight devices have a row: what the others gather in all would be enough, were it not half a row of
// each.
TEST(Different, WhatOneDeviceAloneHasItSays) {
  const std::string line = "on x=8: einsum mk,kn->mn f32[3@x,8] f32[8,8] -> f32[3,8]";
  for (const std::optional<std::int64_t> moved : {std::optional<std::int64_t>{}, {3 * 32 * 7}}) {
    Collective all = over_x("all-gather", 32, 96);
    all.moved = moved;
    expect_told(line, {all}, "");
    all.in = 16;
    expect_told(line, {all}, "device 0 can have sent at most 16 bytes, and 32 that others need only it has");
  }
}

}  // namespace
}  // namespace plumb
