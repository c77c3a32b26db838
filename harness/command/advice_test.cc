#include "harness/command/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reference/words/text.h"

namespace plumb {
namespace {

const Mesh usual = parse_mesh("fsdp=8,tp=4,u=1");

std::vector<Resolution> asked(const std::string& names, const std::vector<AxisRule>& rules,
                              const Mesh& mesh = usual) {
  std::istringstream in(names);
  std::vector<Resolution> all;
  for (Parameter& p : read_names(in, "n")) {
    Case c = resolve_case(mesh, p, rules);
    Resolved first = resolved(c);
    all.push_back({std::move(p), std::move(c), std::move(first)});
  }
  return all;
}

// On the meshes that are given, side by side.
std::string layouts(const std::string& names, const char* rules, bool every = false,
                    const std::vector<std::string>& meshes = {"fsdp=8,tp=4,u=1"}) {
  std::vector<OnMesh> all;
  for (const std::string& one : meshes)
    all.push_back({one, asked(names, read_rules(rules, "r"), parse_mesh(one))});
  return layouts_in_words(all, every);
}

std::string strangers(const std::string& names, const char* file) {
  const std::vector<AxisRule> rules = read_rules(file, "r");
  return strangers_in_words(asked(names, rules), rules, usual);
}

TEST(Advice, WhatStaysWholeIsListedWithWhy) {
  const char* rules = "[['embed', ['fsdp', 'tp']], ['mlp', 'tp'], ['norm', 'u'], ['typo', 'fspd']]";
  const std::string head = "bytes on a device   whole  fsdp=8,tp=4,u=1\n";
  EXPECT_EQ(layouts("w bf16[64,64] embed,-", rules),
            "bytes on a device  whole  fsdp=8,tp=4,u=1\n"
            "all parameters      8192              256\n");
  EXPECT_EQ(layouts("w bf16[64,64] embed,-", rules, true),
            "bytes on a device  whole  fsdp=8,tp=4,u=1\n"
            "w                   8192              256\n"
            "    bf16[64@fsdp.tp,64]\n"
            "all parameters      8192              256\n");
  EXPECT_EQ(layouts("w bf16[128,64] embed,mlp", rules),
            head +
                "w                  16 KiB              512\n"
                "    bf16[128@fsdp.tp,64]  'mlp' stays whole: tp is taken when mlp:tp comes\n"
                "all parameters     16 KiB              512\n");
  EXPECT_EQ(layouts("w f32[64,64] norm,-", rules),  // its axis of size 1 is not shown
            head +
                "w                  16 KiB           16 KiB\n"
                "    f32[64,64]  unsharded: its rules give it no axis that splits it\n"
                "all parameters     16 KiB           16 KiB\n");
  EXPECT_EQ(layouts("w f32[64,64] scale,-", rules),
            head +
                "w                  16 KiB           16 KiB\n"
                "    f32[64,64]  unsharded: no rule names its dimensions\n"
                "all parameters     16 KiB           16 KiB\n");
  EXPECT_EQ(layouts("w f32[64,64] typo,-\nv bf16[64,64] embed,-", rules),
            head +
                "w                  16 KiB                -\n"
                "    none: the mesh has no axis 'fspd'\n"
                "all parameters     24 KiB     at least 256\n");
}

TEST(Advice, MeshesStandSideBySide) {
  const char* rules = "[['embed', ['fsdp', 'tp']], ['mlp', 'tp']]";
  const std::string names = "v bf16[64,64] embed,-\nw bf16[128,64] mlp,-\nx f32[8] -";
  EXPECT_EQ(layouts(names, rules, true, {"fsdp=8,tp=4", "fsdp=4,tp=1"}),
            "bytes on a device   whole  fsdp=8,tp=4  fsdp=4,tp=1\n"
            "v                    8192          256         2048\n"
            "    on fsdp=8,tp=4: bf16[64@fsdp.tp,64]\n"
            "    on fsdp=4,tp=1: bf16[64@fsdp,64]\n"
            "w                  16 KiB         4096       16 KiB\n"
            "    on fsdp=8,tp=4: bf16[128@tp,64]\n"
            "    on fsdp=4,tp=1: bf16[128,64]  unsharded: its rules give it no axis that splits it\n"
            "x                      32           32           32\n"
            "    f32[8]  unsharded: no rule names its dimensions\n"
            "all parameters     24 KiB         4384       18 KiB\n");
  // What is notable on one of them is listed for all.
  EXPECT_EQ(layouts("w bf16[128,64] mlp,-", rules, false, {"fsdp=8,tp=4", "fsdp=4,tp=1"}),
            "bytes on a device   whole  fsdp=8,tp=4  fsdp=4,tp=1\n"
            "w                  16 KiB         4096       16 KiB\n"
            "    on fsdp=8,tp=4: bf16[128@tp,64]\n"
            "    on fsdp=4,tp=1: bf16[128,64]  unsharded: its rules give it no axis that splits it\n"
            "all parameters     16 KiB         4096       16 KiB\n");
}

// No word is lost, and no line is longer than 100 columns but for one word that is.
TEST(Advice, LayoutsFitAHundredColumns) {
  const auto words = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  };
  for (int length = 1; length <= 60; ++length) {
    const std::string axis(length, 'a'), other = axis + "b";
    const std::string mesh = axis + "=2," + other + "=4";
    const std::string text = layouts(
        "w bf16[64,64,64] n,m,m2",
        ("[['n', '" + axis + "'], ['m', '" + other + "'], ['m2', '" + other + "']]").c_str(), true, {mesh});
    const std::string due = "bf16[64@" + axis + ",64@" + other + ",64]  'm2' stays whole: " + other +
                            " is taken when m2:" + other + " comes";
    EXPECT_THAT(words(text), testing::HasSubstr(words(due)));
    std::istringstream lines(text.substr(text.find("\n    ")));
    std::string line;
    while (std::getline(lines, line)) {
      EXPECT_TRUE(!line.starts_with("    ") || line.size() <= 100) << text;
    }
  }
}

TEST(Advice, WhatAxesDoNotDivideIsNamed) {
  const auto undivided = [](const std::string& names) {
    return undivided_in_words(
        asked(names, read_rules("[['embed', ['fsdp', 'tp']], ['mlp', 'tp'], ['typo', 'fspd']]", "r")));
  };
  EXPECT_EQ(undivided("v bf16[64,64] embed,-\nw bf16[3] -\nx bf16[3] typo"), "");
  EXPECT_EQ(undivided("v bf16[64,64] embed,-\nw bf16[6,33] mlp,-\nx bf16[33,6] embed,-"),
            "undivided  w  bf16[6@tp,33]: 6 into 4 parts, which JAX refuses\n"
            "undivided  x  bf16[33@fsdp.tp,6]: 33 into 32 parts, which JAX refuses\n");
}

TEST(Advice, StrangersAreNamedOnceWithWhatMayHaveBeenMeant) {
  EXPECT_EQ(strangers("w f32[8] embed", "[['embed', 'fsdp']]"), "");
  EXPECT_EQ(
      strangers("w f32[8,8] embed,embd\nv f32[8] embd", "[['embed', ['fspd', 'data']], ['mlp', 'data']]"),
      "the rules name axes that the mesh lacks: fspd (did you mean fsdp?), data\n"
      "    if they are there with size 1: --mesh fsdp=8,tp=4,u=1,data=1\n"
      "no rule has these names, and their dimensions stay whole: embd (did you mean embed?)\n");
}

TEST(Advice, Bytes) {
  EXPECT_EQ(bytes_text(10239), "10239");
  EXPECT_EQ(bytes_text(10240), "10 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{2001} << 20), "2001 MiB");
}

}  // namespace
}  // namespace plumb
