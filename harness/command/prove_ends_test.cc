// How long plumb prove takes at most: a budget ends it in loops, and in instructions that are long by
// themselves.
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

}  // namespace
}  // namespace plumb
