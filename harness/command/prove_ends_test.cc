// How long plumb prove takes at most: a budget or a signal ends it in loops, and in instructions that are
// long by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "harness/command/testing/tool.h"

namespace plumb {
namespace {

using testing::HasSubstr;

// How far a loop is, also where it stands at one instruction of the entry for long.
TEST(ProveEnds, CountsTheRoundsOfLongLoops) {
  const Folder files;
  write(files.path / "loop.txt", R"(HloModule l, num_partitions=2

%body {
  %t = s32[] parameter(0)
  %one = s32[] constant(1)
  ROOT %j = s32[] add(%t, %one)
}

%cond {
  %t = s32[] parameter(0)
  %n = s32[] constant(2000000000)
  ROOT %c = pred[] compare(%t, %n), direction=LT
}

ENTRY %main {
  %p = s32[] parameter(0), sharding={replicated}
  ROOT %w = s32[] while(%p), condition=%cond, body=%body, sharding={replicated}
}
)");
  const Ran ran = run_tool(files, "prove loop.txt loop.txt --budget 0.2s");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.out,
              testing::ContainsRegex("no time was left: draw 1 of 8, the module before the partitioner, "
                                     "instruction 1 of 2 .[1-9][0-9]+ with those called"));
}

// A loop of a million rounds ends, or its budget does.
TEST(ProveEnds, ALongLoopEndsInItsBudget) {
  const Folder files;
  const std::string loop = R"(HloModule m, num_partitions=2

%more (s: (s32[], f32[1])) -> pred[] {
  %s = (s32[], f32[1]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %n = s32[] constant(1000000)
  ROOT %less = pred[] compare(%i, %n), direction=LT
}

%next (s: (s32[], f32[1])) -> (s32[], f32[1]) {
  %s = (s32[], f32[1]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[1] get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %y = f32[1] add(%x, %x)
  ROOT %t = (s32[], f32[1]) tuple(%j, %y)
}

ENTRY %e {
  %x = f32[1] parameter(0), sharding={devices=[2]<=[2]}
  %zero = s32[] constant(0)
  %t = (s32[], f32[1]) tuple(%zero, %x)
  %w = (s32[], f32[1]) while(%t), condition=%more, body=%next
  ROOT %r = f32[1] get-tuple-element(%w), index=1, sharding={devices=[2]<=[2]}
}
)";
  write(files.path / "m.txt", std::regex_replace(loop, std::regex("f32\\[1\\]"), "f32[2]"));
  write(files.path / "n.txt", loop);
  const Ran ran = run_tool(files, "prove m.txt n.txt --budget 1s");
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("unrun"));
  EXPECT_THAT(ran.out, HasSubstr("instruction 3 of 5"));
}

// So does a sort, which is one instruction.
TEST(ProveEnds, ALongInstructionEndsInItsBudget) {
  const Folder files;
  write(files.path / "sort.txt", R"(HloModule m, num_partitions=2

%less (p: f32[], q: f32[]) -> pred[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %l = pred[] compare(%p, %q), direction=LT
}

ENTRY %e {
  %x = f32[1048576] parameter(0), sharding={replicated}
  ROOT %r = f32[1048576] sort(%x), dimensions={0}, to_apply=%less, sharding={replicated}
}
)");
  const Ran ran = run_tool(files, "prove sort.txt sort.txt --budget 1s");
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("unrun"));
  EXPECT_THAT(ran.out,
              testing::ContainsRegex(
                  "no time was left: draw 1 of 2, the module before the partitioner, instruction [01] of 2"));
}

// Loops within each other: where their integers come from is followed four times as long for each.
TEST(ProveEnds, FollowingIntegersEndsInItsBudget) {
  const Folder files;
  std::string text = "HloModule m, num_partitions=2\n\n%call0 (x: f32[1]) -> f32[1] {\n  ROOT %x = f32[1] parameter(0)\n}\n";
  for (int depth = 1; depth <= 12; ++depth) {
    const std::string n = std::to_string(depth), within = std::to_string(depth - 1);
    text += "\n%once" + n + " (s: (s32[], f32[1])) -> pred[] {\n  %s = (s32[], f32[1]) parameter(0)\n"
            "  %i = s32[] get-tuple-element(%s), index=0\n  %one = s32[] constant(1)\n"
            "  ROOT %l = pred[] compare(%i, %one), direction=LT\n}\n\n"
            "%next" + n + " (s: (s32[], f32[1])) -> (s32[], f32[1]) {\n  %s = (s32[], f32[1]) parameter(0)\n"
            "  %i = s32[] get-tuple-element(%s), index=0\n  %x = f32[1] get-tuple-element(%s), index=1\n"
            "  %one = s32[] constant(1)\n  %j = s32[] add(%i, %one)\n  %y = f32[1] call(%x), to_apply=%call" + within +
            "\n  ROOT %t = (s32[], f32[1]) tuple(%j, %y)\n}\n\n"
            "%call" + n + " (x: f32[1]) -> f32[1] {\n  %x = f32[1] parameter(0)\n  %zero = s32[] constant(0)\n"
            "  %s = (s32[], f32[1]) tuple(%zero, %x)\n  %w = (s32[], f32[1]) while(%s), condition=%once" + n +
            ", body=%next" + n + "\n  ROOT %y = f32[1] get-tuple-element(%w), index=1\n}\n";
  }
  write(files.path / "deep.txt",
        text + "\nENTRY %e {\n  %x = f32[1] parameter(0), sharding={replicated}\n"
               "  ROOT %r = f32[1] call(%x), to_apply=%call12, sharding={replicated}\n}\n");
  const Ran ran = run_tool(files, "prove deep.txt deep.txt --budget 0.1s");
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("no time was left: before the first draw"));
}

// One product, of many seconds: no instruction comes before it but the arguments, and none after it.
constexpr const char* kProduct = R"(HloModule m, num_partitions=2

ENTRY %e {
  %a = f32[1536,1536] parameter(0), sharding={replicated}
  %b = f32[1536,1536] parameter(1), sharding={replicated}
  ROOT %r = f32[1536,1536] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
}
)";

// A product is done in several threads, of which each ends.
TEST(ProveEnds, AProductEndsInItsBudget) {
  const Folder files;
  write(files.path / "product.txt", kProduct);
  const Ran ran = run_tool(files, "prove product.txt product.txt --budget 1s --draws 1000");
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("no time was left: draw 1 of 1000, the module before the "
                                              "partitioner, instruction [012] of 3"));
}

// So it does where it is told to: one that goes on is killed, which is another code. Told once: timeout
// signals its group besides, unless it is in the foreground, and a second signal ends the program at once.
TEST(ProveEnds, ASignalEndsAProduct) {
  const Folder files;
  write(files.path / "product.txt", kProduct);
  for (const char* signal : {"TERM", "INT"}) {
    const Ran ran = run_tool(
        files, "--version >/dev/null; exec timeout --foreground --preserve-status --kill-after=4 --signal=" +
                   std::string(signal) + " 1 '" PLUMB_TOOL "' prove product.txt product.txt --draws 1000");
    EXPECT_EQ(ran.code, 130) << signal << ": " << ran.err;
    EXPECT_THAT(ran.out, testing::IsEmpty()) << "no verdict";
  }
}

}  // namespace
}  // namespace plumb
