#include "harness/command/advice.h"

#include <gtest/gtest.h>

#include <sstream>

#include "reference/words/text.h"

namespace plumb {
namespace {

const Mesh mesh = parse_mesh("fsdp=8,tp=4,u=1");

std::vector<Resolution> asked(const std::string& names, const std::vector<AxisRule>& rules) {
  std::istringstream in(names);
  std::vector<Resolution> all;
  for (Parameter& p : read_names(in, "n")) {
    Case c = resolve_case(mesh, p, rules);
    Resolved first = resolved(c);
    all.push_back({std::move(p), std::move(c), std::move(first)});
  }
  return all;
}

std::string layouts(const std::string& names, const char* rules, bool every = false) {
  return layouts_in_words(asked(names, read_rules(rules, "r")), every);
}

std::string strangers(const std::string& names, const char* file) {
  const std::vector<AxisRule> rules = read_rules(file, "r");
  return strangers_in_words(asked(names, rules), rules, mesh);
}

TEST(Advice, WhatStaysWholeIsListedWithWhy) {
  const char* rules = "[['embed', ['fsdp', 'tp']], ['mlp', 'tp'], ['norm', 'u'], ['typo', 'fspd']]";
  const std::string head = "parameter  bytes on a device  of      layout by `first`\n";
  EXPECT_EQ(layouts("w bf16[64,64] embed,-", rules), "");
  EXPECT_EQ(layouts("w bf16[64,64] embed,-", rules, true),
            "parameter  bytes on a device  of    layout by `first`\n"
            "w          256                8192  bf16[64@fsdp.tp,64]\n");
  EXPECT_EQ(layouts("w bf16[128,64] embed,mlp", rules),
            head +
                "w          512                16 KiB  bf16[128@fsdp.tp,64]  'mlp' stays whole: tp is taken "
                "when mlp:tp comes\n");
  EXPECT_EQ(
      layouts("w f32[64,64] norm,-", rules),
      head +
          "w          16 KiB             16 KiB  f32[64@u,64]  unsharded: its rules give it no axis that "
          "splits it\n");
  EXPECT_EQ(
      layouts("w f32[64,64] scale,-", rules),
      head + "w          16 KiB             16 KiB  f32[64,64]  unsharded: no rule names its dimensions\n");
  EXPECT_EQ(layouts("w f32[64,64] typo,-", rules),
            head + "w          -                  16 KiB  none: the mesh has no axis 'fspd'\n");
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
