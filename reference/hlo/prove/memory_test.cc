// What a proof holds at most: both sides' arguments and results, and what stands between while it does.
#include "reference/hlo/prove/memory.h"

#include <gtest/gtest.h>

#include "reference/hlo/prove/twin.h"

namespace plumb::hlo {
namespace {

// In floats: four devices run, each on the whole of x, what one runs; `x` is f32[8].
double floats(const std::string& entry, const std::string& computations = "") {
  const Module m =
      parse("HloModule m, num_partitions=4\n" + computations +
                "\nENTRY %e {\n  %x = f32[8] parameter(0), sharding={replicated}\n" + entry + "}\n",
            "m.txt");
  return static_cast<double>(memory_needed({m, m, nullptr})) / sizeof(Twin);
}

constexpr double kX = 8;
constexpr double kWanted = kX;  // the whole side's result, while this side runs

// Devices of which nothing tells one from another are held once.
constexpr const char* kDevices =
    "  %p = u32[] partition-id()\n  %f = f32[] convert(%p)\n"
    "  %b = f32[8] broadcast(%f), dimensions={}\n";

TEST(Memory, WhatDevicesHoldAlikeIsHeldOnce) {
  EXPECT_EQ(floats("  ROOT %r = f32[8] negate(%x)\n"), kWanted + 2 * kX) << "an argument and a result";
  EXPECT_GE(floats(std::string(kDevices) + "  ROOT %r = f32[8] add(%x, %b)\n"), kWanted + 2 * 4 * kX);
}

// In a manual region over some axes those of one place hold the same; outside all do.
TEST(Memory, OfARegionIsWhatItsPlacesHold) {
  const std::string in = "  %i = f32[4] custom-call(%x), custom_call_target=\"SPMDFullToShardShape\", "
                         "sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}\n",
                    out = "sharding={devices=[2,2]<=[4] last_tile_dim_replicate}";
  EXPECT_EQ(floats("  %y = f32[8] custom-call(%x), custom_call_target=\"Sharding\", " + out + "\n" +
                   [&] {
                     std::string i = in;
                     return i.replace(i.find("%x"), 2, "%y");
                   }() +
                   "  %n = f32[4] negate(%i)\n  %o = f32[8] custom-call(%n), "
                   "custom_call_target=\"SPMDShardToFullShape\", " +
                   out + "\n  ROOT %r = f32[8] negate(%o)\n"),
            kWanted + 2 * kX);
}

TEST(Memory, WhatNobodyReadsAnyMoreIsLetGo) {
  const double chain = floats(
                   "  %a = f32[8] negate(%x)\n  %b = f32[8] negate(%a)\n  %c = f32[8] negate(%b)\n"
                   "  ROOT %r = f32[8] negate(%c)\n"),
               kept = floats(
                   "  %a = f32[8] negate(%x)\n  %b = f32[8] negate(%a)\n  %c = f32[8] negate(%b)\n"
                   "  %d = f32[8] add(%a, %c)\n  ROOT %r = f32[8] add(%d, %b)\n");
  EXPECT_EQ(chain, kWanted + 2 * kX) << "an operand and what is made of it";
  EXPECT_EQ(kept, chain + 2 * kX);
}

TEST(Memory, WhatSortsNeedsItsOperandTwiceWhatSumsOnce) {
  EXPECT_EQ(floats("  ROOT %r = f32[8] copy(%x)\n"), kWanted + kX) << "a copy is the operand";
  EXPECT_EQ(floats("  ROOT %r = f32[8] all-reduce(%x), replica_groups={{0,1,2,3}}, channel_id=1, "
                   "use_global_device_ids=true, to_apply=%add\n",
                   "\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
                   "  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n"),
            kWanted + 2 * kX);
  EXPECT_EQ(floats("  ROOT %r = f32[8] sort(%x), dimensions={0}, to_apply=%less\n",
                   "\n%less (a: f32[], b: f32[]) -> pred[] {\n  %a = f32[] parameter(0)\n"
                   "  %b = f32[] parameter(1)\n  ROOT %l = pred[] compare(%a, %b), direction=LT\n}\n"),
            kWanted + kX + 2 * kX);
}

// A loop of `turns` that carries a counter and x, and the body's line for the next x.
std::string loop(const std::string& next) {
  return "\n%body (t: (s32[], f32[8])) -> (s32[], f32[8]) {\n  %t = (s32[], f32[8]) parameter(0)\n"
         "  %i = s32[] get-tuple-element(%t), index=0\n  %v = f32[8] get-tuple-element(%t), index=1\n"
         "  %one = s32[] constant(1)\n  %j = s32[] add(%i, %one)\n" +
         next +
         "  ROOT %n = (s32[], f32[8]) tuple(%j, %w)\n}\n"
         "\n%more (t: (s32[], f32[8])) -> pred[] {\n  %t = (s32[], f32[8]) parameter(0)\n"
         "  %i = s32[] get-tuple-element(%t), index=0\n  %few = s32[] constant(5)\n"
         "  ROOT %l = pred[] compare(%i, %few), direction=LT\n}\n";
}
constexpr const char* kLoop =
    "  %zero = s32[] constant(0)\n  %start = (s32[], f32[8]) tuple(%zero, %x)\n"
    "  %w = (s32[], f32[8]) while(%start), condition=%more, body=%body\n"
    "  ROOT %r = f32[8] get-tuple-element(%w), index=1\n";

TEST(Memory, ALoopHoldsWhatATurnHolds) {
  const double plain = floats(kLoop, loop("  %w = f32[8] negate(%v)\n")),
               parted = floats(kLoop, loop(std::string(kDevices) + "  %w = f32[8] add(%v, %b)\n"));
  EXPECT_GE(plain, kWanted + 2 * kX);
  EXPECT_LE(plain, kWanted + 5 * kX) << "it does not grow with the turns";
  // From the second turn on what is carried is another on each device, and so is what is made of it.
  EXPECT_GE(parted, kWanted + 2 * 4 * kX + 4 * kX);
  EXPECT_LE(parted, kWanted + 6 * 4 * kX);
  EXPECT_LT(floats(kLoop, loop("  %w = f32[8] copy(%v)\n")), kWanted + 2 * kX + 1) << "nothing but counters";
}

// What parts in the first turn makes something else part in the second.
TEST(Memory, ALoopIsGoneThroughUntilNothingPartsAnyMore) {
  const auto carries = [](const std::string& u) {
    return floats(
        "  %zero = s32[] constant(0)\n  %start = (s32[], f32[8], f32[8]) tuple(%zero, %x, %x)\n"
        "  %w = (s32[], f32[8], f32[8]) while(%start), condition=%more, body=%body\n"
        "  ROOT %r = f32[8] get-tuple-element(%w), index=2\n",
        "\n%body (t: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {\n"
        "  %t = (s32[], f32[8], f32[8]) parameter(0)\n  %i = s32[] get-tuple-element(%t), index=0\n"
        "  %u = f32[8] get-tuple-element(%t), index=1\n  %one = s32[] constant(1)\n"
        "  %j = s32[] add(%i, %one)\n" +
            u +
            "  %v = f32[8] negate(%u)\n"
            "  ROOT %n = (s32[], f32[8], f32[8]) tuple(%j, %b, %v)\n}\n"
            "\n%more (t: (s32[], f32[8], f32[8])) -> pred[] {\n  %t = (s32[], f32[8], f32[8]) parameter(0)\n"
            "  %i = s32[] get-tuple-element(%t), index=0\n  %few = s32[] constant(5)\n"
            "  ROOT %l = pred[] compare(%i, %few), direction=LT\n}\n");
  };
  EXPECT_LE(carries("  %b = f32[8] negate(%u)\n"), kWanted + 4 * kX);
  EXPECT_GE(carries(kDevices), kWanted + 4 * 4 * kX) << "u and v, and what is made of either";
}

// Sixty computations, each of which calls the one above it twice: nobody goes through 2^60 calls.
TEST(Memory, OfCallsWithoutEndIsTold) {
  std::string calls =
      "\n%f0 (v: f32[8]) -> f32[8] {\n  %v = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%v)\n}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string called = "to_apply=%f" + std::to_string(i - 1) + "\n";
    calls += "\n%f" + std::to_string(i) +
             " (v: f32[8]) -> f32[8] {\n  %v = f32[8] parameter(0)\n  %a = f32[8] call(%v), " + called +
             "  ROOT %b = f32[8] call(%a), " + called + "}\n";
  }
  EXPECT_GE(floats("  ROOT %r = f32[8] call(%x), to_apply=%f59\n", calls), kWanted + kX);
}

TEST(Memory, OfBranchesEachIsGoneThrough) {
  const std::string two =
      "\n%small (v: f32[8]) -> f32[8] {\n  %v = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%v)\n}\n"
      "\n%large (v: f32[8]) -> f32[8] {\n  %v = f32[8] parameter(0)\n"
      "  %b = f32[1000,8] broadcast(%v), dimensions={1}\n  ROOT %s = f32[8] slice(%c), slice={[0:8]}\n}\n";
  std::string large = two;
  const std::string from = "  ROOT %s = f32[8] slice(%c), slice={[0:8]}\n";
  large.replace(large.find(from), from.size(),
                "  %f = f32[8000] reshape(%b)\n  ROOT %s = f32[8] slice(%f), slice={[0:8]}\n");
  const std::string line =
      "  %p = pred[] constant(true)\n  ROOT %r = f32[8] conditional(%p, %x, %x), "
      "branch_computations={";
  EXPECT_GE(floats(line + "%small, %large}\n", large), 8000);
  EXPECT_GE(floats(line + "%large, %small}\n", large), 8000);
  EXPECT_LT(floats(line + "%small, %small}\n", large), 8000);
}

}  // namespace
}  // namespace plumb::hlo
