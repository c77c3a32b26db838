// The dumps of two releases, both partitioners: each right program is proven, each known wrong one refuted.
// And what the numbers must know: rewrites that compilers do are no difference.
#include "reference/hlo/prove/prove.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/prove/testing/functions.h"

namespace plumb::hlo {
namespace {

Proof of_folder(const std::filesystem::path& folder, std::uint64_t seed) {
  const auto module = [&](const std::string& part) {
    const auto path = dump(folder, part);
    return path.empty() ? Module{} : parse(read(path), path.filename().string());
  };
  const Module before = module("before_optimizations"), after = module("after_spmd-partitioning");
  Module propagated = module("after_shardy-xla");
  if (propagated.computations.empty()) propagated = module("after_sharding-propagation");
  return prove({before, after, &propagated}, {seed, 2, 8});
}

// What numpy shows to be wrong on real devices (scripts/confirm).
const std::set<std::string> kWrong = {
    "matmul_columns.gspmd",  "matmul_columns.shardy",       "matmul_gathered.shardy",
    "matmul_rows.shardy",    "matmul_split.shardy",         "matmul_swapped.gspmd",
    "matmul_swapped.shardy", "matmul_swapped.shardy.named", "xla_40034.gspmd"};

TEST(Prove, RightProgramsAreProvenAndWrongOnesRefuted) {
  int proven = 0, refuted = 0;
  for (const auto& folder : dump_folders()) {
    const bool wrong = kWrong.contains(folder.filename().string());
    const Proof proof = of_folder(folder, 0);
    EXPECT_EQ(name(proof.finding), name(wrong ? Finding::refuted : Finding::proven))
        << folder << " " << proof.why;
    // Numbers drawn from [a, b) are the greater of a and what is drawn, which is a with a chance of 2^-23. An
    // argmax, by which experts are chosen, asks whether a number is none.
    const std::string program = folder.filename().string();
    std::vector<std::string> untaken;
    if (program.starts_with("random")) untaken = {"%max.7 operand 0"};
    if (program.starts_with("moe")) untaken = {"%ne.1 true"};
    if (program.starts_with("indices")) untaken = {"%ne.2 true", "%ne.3 true", "%ne.5 true"};
    EXPECT_EQ(proof.untaken, untaken) << folder;
    EXPECT_EQ(proof.differences.empty(), !wrong) << folder;
    ++(proof.finding == Finding::proven ? proven : refuted);
  }
  EXPECT_GE(proven, 50);
  EXPECT_GE(refuted, 15);
}

// Flax's and MaxText's own training steps, with dropout and masks, on eight devices.
TEST(Prove, StepsOfFrameworks) {
  for (const char* name_of : {"flax.shardy", "maxtext.shardy"}) {
    const Proof proof = of_folder(std::filesystem::path(PLUMB_DUMPS) / "training" / name_of, 0);
    EXPECT_EQ(name(proof.finding), "proven") << name_of << " " << proof.why;
    EXPECT_GT(proof.results, 50) << name_of;
  }
}

TEST(Prove, OtherDrawsRaiseNoAlarm) {
  for (const auto& folder : dump_folders()) {
    const std::string name_of = folder.string();
    if (kWrong.contains(folder.filename().string()) || name_of.find("0.10.2") == name_of.npos) continue;
    for (std::uint64_t seed = 100; seed < (name_of.find("transformer") == name_of.npos ? 120u : 102u); ++seed)
      EXPECT_EQ(name(of_folder(folder, seed).finding), "proven") << folder << " seed " << seed;
  }
}

std::string_view compared(const std::string& one, const std::string& other) {
  return name(of_functions(one, other).finding);
}

TEST(Prove, RewritesOfCompilersAreNoDifference) {
  const std::string ex = "  %ex = S exponential(%x)\n", ey = "  %ey = S exponential(%y)\n",
                    sum = "  %s = S add(%x, %y)\n";
  const auto constant = [](const std::string& name, const std::string& number) {
    return "  %c" + name + " = f32[] constant(" + number + ")\n  %" + name + " = S broadcast(%c" + name +
           "), dimensions={}\n";
  };
  // clang-format off
  const std::pair<std::string, std::string> table[] = {
      // exp(x) exp(y) = exp(x + y)
      {ex + ey + "  ROOT %r = S multiply(%ex, %ey)\n", sum + "  ROOT %r = S exponential(%s)\n"},
      // exp(x) / exp(y) = exp(x - y)
      {ex + ey + "  ROOT %r = S divide(%ex, %ey)\n", "  %d = S subtract(%x, %y)\n  ROOT %r = S exponential(%d)\n"},
      // 1 / exp(x) = exp(-x)
      {constant("one", "1") + ex + "  ROOT %r = S divide(%one, %ex)\n",
       "  %n = S negate(%x)\n  ROOT %r = S exponential(%n)\n"},
      // exp(x) ^ y = exp(x y)
      {ex + "  ROOT %r = S power(%ex, %y)\n", "  %p = S multiply(%x, %y)\n  ROOT %r = S exponential(%p)\n"},
      // x / exp(y) = x exp(-y)
      {ey + "  ROOT %r = S divide(%x, %ey)\n",
       "  %n = S negate(%y)\n  %e = S exponential(%n)\n  ROOT %r = S multiply(%x, %e)\n"},
      // log(exp(x)) = x
      {ex + "  ROOT %r = S log(%ex)\n", "  ROOT %r = S copy(%x)\n"},
      // log(x ^ y) = y log(x)
      {"  %p = S power(%x, %y)\n  ROOT %r = S log(%p)\n", "  %l = S log(%x)\n  ROOT %r = S multiply(%y, %l)\n"},
      // x ^ 3 = x x x
      {constant("three", "3") + "  ROOT %r = S power(%x, %three)\n",
       "  %q = S multiply(%x, %x)\n  ROOT %r = S multiply(%x, %q)\n"},
      // x / 4 = x times 1/4, and the sum in another order
      {constant("four", "4") + sum + "  ROOT %r = S divide(%s, %four)\n",
       constant("quarter", "0.25") + "  %a = S multiply(%y, %quarter)\n  %b = S multiply(%x, %quarter)\n" +
           "  ROOT %r = S add(%a, %b)\n"},
      // x / 3 = x times what 1/3 rounds to, and the mean of six
      {constant("three", "3") + "  ROOT %r = S divide(%x, %three)\n",
       constant("third", "0.333333343") + "  ROOT %r = S multiply(%x, %third)\n"},
      {constant("six", "6") + sum + "  %t = S add(%s, %s)\n  %u = S add(%t, %s)\n  ROOT %r = S divide(%u, %six)\n",
       constant("sixth", "0.166666672") + sum + "  %t = S add(%s, %s)\n  %u = S add(%s, %t)\n" +
           "  ROOT %r = S multiply(%u, %sixth)\n"},
      // 1 / sqrt(x) = rsqrt(x)
      {constant("one", "1") + "  %q = S sqrt(%x)\n  ROOT %r = S divide(%one, %q)\n", "  ROOT %r = S rsqrt(%x)\n"},
  };
  // clang-format on
  for (const auto& [one, other] : table) EXPECT_EQ(compared(one, other), "proven") << one << other;
}

TEST(Prove, OtherFunctionsAreADifference) {
  const std::pair<std::string, std::string> table[] = {
      {"  ROOT %r = S add(%x, %y)\n",      "  ROOT %r = S add(%x, %x)\n"     }, //
      {"  ROOT %r = S subtract(%x, %y)\n", "  ROOT %r = S subtract(%y, %x)\n"},
      {"  ROOT %r = S maximum(%x, %y)\n",  "  ROOT %r = S minimum(%x, %y)\n" },
      {"  ROOT %r = S sine(%x)\n",         "  ROOT %r = S cosine(%x)\n"      },
      {"  ROOT %r = S exponential(%x)\n",  "  ROOT %r = S tanh(%x)\n"        },
      {"  ROOT %r = S floor(%x)\n",        "  ROOT %r = S ceil(%x)\n"        },
  };
  for (const auto& [one, other] : table) EXPECT_EQ(compared(one, other), "refuted") << one << other;
}

// e + 1e-30 where e is no less than 1: the residues differ, no real does.
TEST(Prove, WhatNoRealShowsIsUnsettled) {
  const std::string more = "  %a = S abs(%x)\n" + constant_lines("one", "1") + "  %e = S add(%a, %one)\n";
  EXPECT_EQ(compared(more + "  ROOT %r = S copy(%e)\n",
                     more + constant_lines("tiny", "1e-30") + "  ROOT %r = S add(%e, %tiny)\n"),
            "unsettled");
}

TEST(Prove, ModulesThatDoNotBelongTogether) {
  EXPECT_THROW(compared("  ROOT %r = S copy(%x)\n", "  %z = S parameter(2)\n  ROOT %r = S copy(%x)\n"),
               BadModule);
}

TEST(Prove, PairsAreCheckedBeforeTheyAreProven) {
  const auto module = [](const std::string& lines) {
    return parse("HloModule m, num_partitions=2\n\nENTRY %e {\n" + lines + "}\n", "m.txt");
  };
  const std::string cut = ", sharding={devices=[2]<=[2]}\n", held = "  %x = f32[2] parameter(0)\n";
  const Module before = module("  %x = f32[4] parameter(0)" + cut + "  ROOT %r = f32[4] negate(%x)" + cut);
  EXPECT_NO_THROW(check({before, module(held + "  ROOT %r = f32[2] negate(%x)\n"), nullptr}));
  EXPECT_THROW(
      check({before, module("  %x = f32[4] parameter(0)\n  ROOT %r = f32[4] negate(%x)\n"), nullptr}),
      BadModule);
  EXPECT_THROW(
      check({before, module(held + "  ROOT %r = f32[4] concatenate(%x, %x), dimensions={0}\n"), nullptr}),
      BadModule);
}

}  // namespace
}  // namespace plumb::hlo
