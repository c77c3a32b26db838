// Modules of two releases of JAX and both partitioners, and by hand what they do not show.
#include "reference/hlo/module/module.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/hlo/module/testing/dumps.h"

namespace plumb::hlo {
namespace {

// The text without what a module does not keep: the tables of files, metadata.
std::string kept(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("File") || line.starts_with("Function") ||
        line.starts_with("Stack") || (line[0] >= '0' && line[0] <= '9'))
      continue;
    const std::size_t at = line.rfind(", metadata={");
    result += at == line.npos ? line : line.substr(0, at) + line.substr(line.find('}', at) + 1);
    result += "\n";
  }
  return result;
}

TEST(Module, EveryDumpComesBackToTheByte) {
  ASSERT_GT(dumps().size(), 180u);
  for (const auto& path : dumps()) {
    const std::string text = read(path);
    try {
      ASSERT_EQ(kept(print(parse(text, path.filename().string()))), kept(text)) << path;
    } catch (const BadModule& error) {
      FAIL() << error.what();
    }
  }
}

// Law: percent signs say nothing. XLA can print without them.
TEST(Module, NamesWithoutPercentSignsAreTheSameNames) {
  for (const auto& path : dumps()) {
    const std::string text = read(path), with = print(parse(text, "m.txt"));
    std::string bare = text;
    std::erase(bare, '%');
    ASSERT_EQ(print(parse(bare, "m.txt")), with) << path;
  }
}

// The law is seen to fail: a number that changes comes back changed.
TEST(Module, AChangedAttributeIsSeen) {
  int changed = 0;
  for (const auto& path : dumps()) {
    std::string text = read(path);
    const std::string before = print(parse(text, "m.txt"));
    const std::size_t at = text.find("index=0, sharding");
    if (at == text.npos) continue;
    text.replace(at, 7, "index=1");
    EXPECT_NE(print(parse(text, "m.txt")), before) << path;
    ++changed;
  }
  EXPECT_GT(changed, 10);
}

Module one(const std::string& line) {
  return parse(
      "HloModule m\n\nENTRY %e () -> pred[] {\n  %c = " + line + "\n  ROOT %r = pred[] constant(true)\n}\n",
      "m.txt");
}

const Instruction& first(const Module& module) { return entry(module).instructions[0]; }

TEST(Module, Constants) {
  const auto integers = [](const std::string& line) { return first(one(line)).literal.integers; };
  const auto reals = [](const std::string& line) { return first(one(line)).literal.reals; };
  EXPECT_EQ(integers("s32[2,2]{1,0} constant({ { 1, -2 }, { 3, 4 } })"), (Integers{1, -2, 3, 4}));
  EXPECT_EQ(integers("s32[2,1,2]{2,1,0} constant({ { /*i0=0*/ { 1, 2 } }, { /*i0=1*/ { 3, 4 } } })"),
            (Integers{1, 2, 3, 4}));
  EXPECT_EQ(integers("pred[3]{0} constant({1, 0, true})"), (Integers{1, 0, 1}));
  EXPECT_EQ(integers("u64[] constant(18446744073709551615)"), (Integers{-1}));
  EXPECT_EQ(integers("s4[] constant(-8)"), (Integers{-8}));
  EXPECT_EQ(integers("s32[0,2]{1,0} constant({ })"), Integers{});
  EXPECT_EQ(integers("s32[2,0]{1,0} constant({ { }, { } })"), Integers{});
  // The nearest number of the type, not of double.
  EXPECT_EQ(reals("f32[] constant(0.1)"), (std::vector<double>{0x1.99999ap-4}));
  EXPECT_EQ(reals("bf16[] constant(0.1001)"), (std::vector<double>{0x1.9ap-4}));
  EXPECT_EQ(reals("f16[] constant(0.09998)"), (std::vector<double>{0x1.998p-4}));
  EXPECT_EQ(reals("f64[] constant(0.10000000000000001)"), (std::vector<double>{0.1}));
  EXPECT_EQ(reals("f32[2]{0} constant({inf, -inf})"), (std::vector<double>{HUGE_VAL, -HUGE_VAL}));
  EXPECT_TRUE(std::isnan(reals("f32[] constant(nan)")[0]));
}

// What the dumps of virtual CPUs do not show comes back as well.
TEST(Module, LinesByHand) {
  for (const char* line : {
           "f32[4]{0} iota(), iota_dimension=0",
           "s4[4]{0:E(4)} iota(), iota_dimension=0",
           "f32[8,128]{1,0:T(8,128)S(3)} iota(), iota_dimension=1",
           "(f32[2]{0}, (s32[], token[]), u8[1]{0}) custom-call(), custom_call_target=\"AllocateBuffer\"",
           "token[] after-all()",
           "u32[] replica-id()",
       }) {
    const Module module = one(line);
    EXPECT_EQ(print(module, entry(module), first(module)), std::string("%c = ") + line);
  }
}

// Every attribute of a header, and each form of an attribute of an instruction, with what is not the default.
TEST(Module, TextsByHand) {
  const std::string text =
      "HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1,2}: (1, {3}, "
      "must-alias) }, buffer_donor={ (0, {}), (1, {2,3}) }, "
      "entry_computation_layout={(f32[2,3]{1,0}, pred[])->f32[2,3]{0,1}}, "
      "allow_spmd_sharding_propagation_to_parameters={true,false}, "
      "allow_spmd_sharding_propagation_to_output={false}, replica_count=3, num_partitions=4, "
      "frontend_attributes={xla.sdy.meshes={a = b},inlineable=\"no\"}\n\n"
      "%f (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  %y = f32[] parameter(1)\n"
      "  ROOT %s = f32[] add(%x, %y)\n}\n\n"
      "ENTRY %e (a: f32[2,3], p: pred[]) -> f32[2,3] {\n"
      "  %p = pred[] parameter(1)\n  %a = f32[2,3]{1,0} parameter(0)\n  %z = f32[] constant(0.5)\n"
      "  %s = f32[1,1]{1,0} slice(%a), slice={[0:1], [0:3:3]}\n"
      "  %q = f32[7,2]{1,0} pad(%a, %z), padding=1_2_3x0_-1\n"
      "  %w = f32[2,3]{1,0} reduce-window(%a, %z), window={size=2x1 stride=1x2 pad=0_1x3_0 lhs_dilate=1x2 "
      "rhs_dilate=2x1}, to_apply=%f\n"
      "  %v = f32[2,3]{1,0} reduce-window(%a, %z), window={size=2x3 rhs_reversal=0x1}, to_apply=%f\n"
      "  %u = f32[2,3]{1,0} reduce-window(%a, %z), window={size=1x1 pad=0_0x0_1}, to_apply=%f\n"
      "  %n = f32[2,3]{1,0} reduce-window(%a, %z), window={}, to_apply=%f\n"
      "  %k = f32[2,3]{1,0} sort(%a), dimensions={1}, is_stable=false, to_apply=%f\n"
      "  %l = f32[2,3]{1,0} sort(%a), dimensions={0}, is_stable=true, to_apply=%f\n"
      "  %c = pred[] compare(%z, %z), direction=LT, type=TOTALORDER\n"
      "  %b = f32[] conditional(%p, %z, %z), true_computation=%f, false_computation=%f\n"
      "  %d = f32[2,3]{1,0} collective-permute(%a), channel_id=7, source_target_pairs={{0,1},{2,3}}\n"
      "  %i = s64[2,2]{1,0} constant({ { -1, 2 }, { 3, 4 } })\n  %j = pred[2]{0} constant({1, 0})\n"
      "  %o = u64[2]{0} constant({18446744073709551615, 0})\n"
      "  %t = (f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[], f32[]) tuple(%z, %z, %z, %z, %z, "
      "/*index=5*/%z, %z), "
      "sharding={{replicated}, {replicated}, {maximal device=1}, {manual}, {unreduced}, "
      "/*index=5*/{unknown}, "
      "{replicated}}\n"
      "  ROOT %r = f32[2,3]{0,1} custom-call(%a), custom_call_target=\"x\", "
      "custom_call_has_side_effect=true, "
      "frontend_attributes={xla.sdy.sharding={\"a,}\"},inlineable=\"yes\",xla_cpu_small_call=\"true\",is_spmd_generated=\"true\"}\n}\n";
  EXPECT_EQ(print(parse(text, "m.txt")), text);
  EXPECT_EQ(print(parse("\n  /* before */ \n" + text, "m.txt")), text);
  const std::string least =
      "HloModule m, entry_computation_layout={()->f32[]}\n\nENTRY %e () -> f32[] {\n  ROOT %c = f32[] "
      "constant(1)\n}\n";
  EXPECT_EQ(print(parse(least, "m.txt")), least);
}

// An element of a tuple where it is used is the instruction that takes it, once.
TEST(Module, ElementsOfTuples) {
  const auto text = [](const std::string& middle, const std::string& root) {
    return "HloModule m, entry_computation_layout={(f32[2], s32[])->f32[2]}\n\nENTRY %e (a: f32[2], b: s32[]) -> f32[2] {\n"
           "  %a = f32[2]{0} parameter(0)\n  %b = s32[] parameter(1)\n  %t = (s32[], f32[2]{0}) tuple(%b, %a)\n" +
           middle + "  ROOT %r = f32[2]{0} add(" + root + ")\n}\n";
  };
  const std::string spelt = text("  %t#1 = f32[2]{0} get-tuple-element(%t), index=1\n", "%t#1, %t#1");
  EXPECT_EQ(print(parse(text("", "%t#1, f32[2]{0} %t#1"), "m.txt")), spelt);
  EXPECT_EQ(print(parse(spelt, "m.txt")), spelt);
}

TEST(Module, TablesOfFiles) {
  const Module module = parse(
      "HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"b.py\"\n\nFunctionNames\n1 \"f\"\n2 \"g\"\n\nFileLocations\n"
      "1 {file_name_id=2 function_name_id=1 line=10 end_line=11}\n2 {file_name_id=1 function_name_id=2 "
      "line=345}\n"
      "3 {file_name_id=1 line=6}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
      "2 {file_location_id=2 parent_frame_id=1}\n3 {file_location_id=3}\n4 {file_location_id=4}\n\n"
      "ENTRY %e {\n  %a = f32[] constant(1), metadata={op_name=\"jit(\\\"f\\\")\" stack_frame_id=1}\n"
      "  %b = f32[] constant(1), metadata={op_type=\"x\" stack_frame_id=2}\n"
      "  %c = f32[] constant(1), metadata={stack_frame_id=3}\n  %d = f32[] constant(1), "
      "metadata={stack_frame_id=4}\n"
      "  %f = f32[] constant(1), metadata={stack_frame_id=6}\n  %g = f32[] constant(1)\n"
      "  ROOT %h = f32[] constant(1), metadata={op_name=\"h\" source_file=\"c.py\" source_line=9}\n}\n",
      "m.txt");
  std::vector<std::string> told;
  for (const Instruction& i : entry(module).instructions) told.push_back(source(module, i));
  EXPECT_EQ(told, (std::vector<std::string>{"b.py:10 f", "a.py:345 g", "a.py:6", "", "", "", "c.py:9"}));
  EXPECT_EQ(entry(module).instructions[0].op_name, "jit(\"f\")");
  EXPECT_EQ(module.frames[1].parent, 1);
  EXPECT_EQ(module.frames[2].parent, 0);
}

// n computations, each of which calls the one above.
std::string nested(int n) {
  std::string text = "HloModule m\n\n%f0 (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}\n";
  for (int i = 1; i < n; ++i)
    text += "\n%f" + std::to_string(i) +
            " (a: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  ROOT %b = f32[] "
            "call(%a), to_apply=%f" +
            std::to_string(i - 1) + "\n}\n";
  return text + "\nENTRY %e {\n  ROOT %c = f32[] constant(1)\n}\n";
}

TEST(Module, CallsAreSoDeep) {
  EXPECT_EQ(parse(nested(1000), "m.txt").computations.size(), 1001u);
  try {
    parse(nested(1001), "m.txt");
    FAIL() << "too deep";
  } catch (const BadModule& error) {
    EXPECT_NE(std::string(error.what()).find("calls within calls, more than 1000 deep"), std::string::npos);
  }
}

TEST(Module, TheUsersLine) {
  for (const auto& path : dumps()) {
    if (path.string().find("0.10.2/transformer.shardy/") == std::string::npos) continue;
    if (path.filename().string().find("before_optimizations") == std::string::npos) continue;
    const Module module = parse(read(path), "m.txt");
    std::vector<std::string> sources;
    for (const Computation& computation : module.computations)
      for (const Instruction& i : computation.instructions)
        if (i.op_name.find("fm->bsm/dot_general") != std::string::npos) sources.push_back(source(module, i));
    ASSERT_FALSE(sources.empty());
    EXPECT_EQ(sources[0].substr(0, 12), "training.py:") << sources[0];
    EXPECT_NE(sources[0].find(" block"), std::string::npos) << sources[0];
    return;
  }
  FAIL() << "no dump of the transformer";
}

}  // namespace
}  // namespace plumb::hlo
