#include "harness/run/demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/attempt.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

constexpr std::int64_t gib = std::int64_t{1} << 30;

Case product(const std::string& m, const std::string& k, const std::string& n) {
  return parse_case("on dp=4,tp=2: einsum bk,kn->bn bf16[" + m + "@dp," + k + "] bf16[" + k + "," + n +
                    "@tp] -> bf16[" + m + "@dp," + n + "@tp]");
}

std::string said(const Case& c, const Room& room, const Usage& usage = {}) {
  try {
    refuse_what_does_not_fit(c, room, usage);
  } catch (const DoesNotFit& error) {
    return error.what();
  }
  return "";
}

TEST(Demand, WorkIsThatOfEveryDeviceOnTheCoresThatThereAre) {
  const Case c = product("4096", "8192", "28672");
  const double seconds = seconds_of_work(c, 2);
  EXPECT_GT(seconds, 2.0 * 4096 * 8192 * 28672 / 1e9 / 2);
  EXPECT_EQ(seconds_of_work(c, 4) * 2, seconds);
  EXPECT_GT(seconds_of_work(product("8192", "8192", "28672"), 2), 1.9 * seconds);
  // What is replicated is computed by each.
  const Case whole = parse_case("on x=8: einsum bk,kn->bn f32[64,64] f32[64,64] -> f32[64,64]");
  const Case split = parse_case("on x=8: einsum bk,kn->bn f32[64@x,64] f32[64,64] -> f32[64@x,64]");
  EXPECT_GT(seconds_of_work(whole, 1), seconds_of_work(split, 1) + 7.0 * 2 * 64 * 64 * 64 / 1e9);
  EXPECT_EQ(seconds_of_work(parse_case("on x=2: resolve first f32[8'a] rules=a:x"), 1), 0);
  EXPECT_GT(seconds_of_work(parse_case("on x=2: reshard f32[1048576@x] -> f32[1048576]"), 1),
            4.0 * 1048576 / 1e8);
}

// A line of every suite has its deadlines, but for the seconds of its work; and none without cores.
TEST(Demand, DeadlinesGrowWithTheWork) {
  Settings settings;
  settings.cores = 2;
  const Case c = product("4096", "8192", "28672"), small = product("8", "8", "8");
  EXPECT_EQ(deadlines_for(c, settings).run, settings.deadlines.run + seconds_of_work(c, 2));
  EXPECT_EQ(deadlines_for(c, settings).compile, settings.deadlines.compile + seconds_of_work(c, 2));
  EXPECT_EQ(deadlines_for(c, settings).start, settings.deadlines.start);
  EXPECT_LT(deadlines_for(small, settings).run, settings.deadlines.run + 1);
  settings.cores = 0;
  EXPECT_EQ(deadlines_for(c, settings).run, settings.deadlines.run);
}

TEST(Demand, TooLargeInMemory) {
  const Case c = parse_case("on x=2: reshard f32[1073741824@x] -> f32[1073741824]");
  EXPECT_EQ(said(c, {64 * gib}), "");
  EXPECT_EQ(said(c, {16 * gib}),
            "too large here: this case would hold 28 GiB, more than the 16 GiB there are\n"
            "  on x=2: reshard f32[1073741824@x] -> f32[1073741824]\n"
            "  smaller, of the same layouts: on x=2: reshard f32[134217728@x] -> f32[134217728]");
  EXPECT_THAT(said(c, {30 * gib}, {.reruns = 1}), HasSubstr("would hold 56 GiB"));
  EXPECT_THAT(said(c, {15 * gib}, {.in_place = true}), HasSubstr("would hold 24 GiB"));
}

TEST(Demand, TooLargeInTime) {
  const Case c = product("65536", "8192", "28672");
  EXPECT_EQ(said(product("4096", "8192", "28672"), {64 * gib, 2}), "");
  const std::string text = said(c, {64 * gib, 2});
  EXPECT_THAT(text, HasSubstr("too large here: 3.08e+13 operations and"));
  EXPECT_THAT(
      text, HasSubstr("minutes of work for 2 cores, more than 60; --timeout SECONDS runs it all the same\n"));
  EXPECT_EQ(said(c, {64 * gib, 0}), "") << "nobody asks for the time";
  EXPECT_EQ(said(c, {64 * gib, 2}, {.in_place = true}), "") << "ranks may have machines of their own";
  EXPECT_EQ(said(c, {64 * gib, 64}), "");
}

// The axes of every dimension stay, what divided a size divides it still, and it fits.
TEST(Demand, ASmallerLineHasTheSameLayouts) {
  const Room room{gib, 1};
  for (const char* line : {
           "on dp=4,tp=2: einsum bk,kn->bn bf16[65536@dp,8192] bf16[8192,28672@tp] -> "
           "bf16[65536@dp,28672@tp]",
           "on x=3,y=2: reshard f32[1073741824@x]+y -> f32[1073741824]",
           "on x=2,y=2: reshard f32[16384@x,3,16384@y] -> f32[16384@y,3,16384] -> f32[16384,3,16384]",
           "on ep=2,fsdp=2: grouped fwd bf16[65536@ep.fsdp,8192] bf16[4@ep,8192@fsdp,16384] "
           "sizes=16384,16384,0,32768 -> bf16[65536@ep.fsdp,16384]",
           "on x=4: quantize mxfp8 bf16[65536@x,65536] -> f8e4m3[65536@x,65536] e8m0[65536@x,2048]",
       }) {
    SCOPED_TRACE(line);
    const Case c = parse_case(line);
    const auto less = smaller(c, room);
    ASSERT_TRUE(less);
    EXPECT_TRUE(fits(*less, room));
    EXPECT_LE(seconds_of_work(*less, room.cores), 60);
    EXPECT_EQ(said(*less, room), "");
    const auto same = [&](const std::vector<Spec>& before, const std::vector<Spec>& after) {
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t s = 0; s < before.size(); ++s) {
        ASSERT_EQ(before[s].dims.size(), after[s].dims.size());
        for (std::size_t d = 0; d < before[s].dims.size(); ++d) {
          const Dim &from = before[s].dims[d], &to = after[s].dims[d];
          EXPECT_EQ(from.axes, to.axes);
          const std::int64_t parts = axes_size(c.mesh, from.axes);
          EXPECT_EQ(from.size % parts == 0, to.size % parts == 0);
          EXPECT_GE(to.size, std::min(from.size, parts));
        }
      }
    };
    same(c.op.operands, less->op.operands);
    same(c.op.chain, less->op.chain);
  }
  EXPECT_FALSE(smaller(parse_case("on x=2: reshard f32[1000000007@x] -> f32[1000000007]"), room))
      << "a prime";
}

}  // namespace
}  // namespace plumb
