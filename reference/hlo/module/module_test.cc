// Modules of two releases of JAX and both partitioners, and by hand what they do not show.
#include "reference/hlo/module/module.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/hlo/module/dumps.h"

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
    result += line.substr(0, at) + "\n";
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
