// Constants that compilers computed before they partitioned: each stands for what rounds to it.
#include <gtest/gtest.h>

#include "reference/hlo/prove/testing/functions.h"

namespace plumb::hlo {
namespace {

std::string c(const std::string& name, const std::string& number) { return constant_lines(name, number); }
std::string times(const std::string& number) { return c("k", number) + "  ROOT %r = S multiply(%x, %k)\n"; }

struct Fold {
  std::string before, after, verdict;
};

// The verdict, and what the constants stand for.
std::string fold_told(const Fold& fold) {
  const Proof proof = of_functions(fold.before, fold.after);
  std::string text(name(proof.finding));
  for (const std::string& constant : proof.folded) text += ": " + constant;
  return text;
}

// 0.330000013 is what 0.1 * 3.3 and what 0.3 * 1.1 round to: whichever the program means is found, and that
// it is not the only one is said.
TEST(Folded, EachMeaningOfAConstantIsTried) {
  const auto program = [](const std::string& first, const std::string& second) {
    return c("a", "0.1") + c("b", "3.3") + c("d", "0.3") + c("e", "1.1") + "  %p = S multiply(%x, %" + first +
           ")\n  %q = S multiply(%p, %" + second + ")\n";
  };
  const std::string beside =
                        "  %s = S add(%a, %b)\n  %t = S add(%d, %e)\n  %u = S multiply(%s, %t)\n"
                        "  %v = S multiply(%u, %y)\n  ROOT %r = S add(%q, %v)\n",
                    after = c("a", "0.1") + c("b", "3.3") + c("d", "0.3") + c("e", "1.1") +
                            c("k", "0.330000013") + "  %q = S multiply(%x, %k)\n";
  for (const auto& [first, second] : {
           std::pair{"a", "b"},
           {"d", "e"}
  }) {
    const Proof proof = of_functions(program(first, second) + beside, after + beside);
    EXPECT_EQ(proof.finding, Finding::unsettled) << first;
    EXPECT_TRUE(proof.differences.empty()) << first << ": with one of its meanings all is as it should be";
    EXPECT_NE(proof.why.find(" may be "), std::string::npos) << proof.why;
  }
}

// What is unsettled for another reason is not laid to a constant of one meaning.
TEST(Folded, AConstantOfOneMeaningIsNoDoubt) {
  const Proof proof = of_functions(
      c("three", "3") + "  ROOT %r = S divide(%x, %three)\n",
      c("k", "0.333333343") + c("t", "1e-30") + "  %p = S multiply(%x, %k)\n  ROOT %r = S add(%p, %t)\n");
  EXPECT_EQ(proof.finding, Finding::unsettled);
  EXPECT_EQ(proof.folded, std::vector<std::string>{"0.333333343 stands for 1 / 3"});
  EXPECT_EQ(proof.why, "");
}

TEST(Folded, AConstantStandsForWhatRoundsToIt) {
  const std::string
      third = c("three", "3") + "  ROOT %r = S divide(%x, %three)\n",
      gelu = c("a", "0.044715") + c("b", "0.797884583") +
             "  %p = S multiply(%x, %a)\n  ROOT %r = S multiply(%p, %b)\n",
      three = c("a", "0.1") + c("b", "0.7") + c("d", "3") +
              "  %p = S multiply(%x, %a)\n  %q = S multiply(%p, %b)\n  ROOT %r = S divide(%q, %d)\n";
  const Fold table[] = {
      {third,                                                                     times("0.333333343"),                                          "proven: 0.333333343 stands for 1 / 3"},
      {third,                                                                     times("0.333333373"),                                          "unsettled"}, // the next float
      {c("n",                                                                     "6") + "  %s = S add(%x, %y)\n  ROOT %r = S divide(%s, %n)\n",
       "  %s = S add(%x, %y)\n" + c("k","0.166666672") + "  ROOT %r = S multiply(%s, %k)\n",
       "proven: 0.166666672 stands for 1 / 6"},
      {gelu,                                    times("0.0356774069"),                                                                                                 "proven: 0.0356774069 stands for 0.797884583 * 0.044715"},
      {gelu,                 times("0.0356774032"),"unsettled"},
      {three,                                                              times("0.0233333334"),                                                                                                                                              "proven: 0.0233333334 stands for (0.1 / 3) * 0.7"                                                                                               },
 // an exact one is itself
      {c("four",                        "4") + "  ROOT %r = S divide(%x, %four)\n",times("0.25"),"proven"},
 // a sum, a difference, the other sign
      {c("a",                                                            "0.1") + c("b",                                                                                                                                                                          "0.7") +
           "  %p = S multiply(%x, %a)\n  %q = S multiply(%x, %b)\n"
           "  ROOT %r = S add(%p, %q)\n",                                                                                                                                                                                                                                                                                                                                         times("0.800000012"), "proven: 0.8 stands for 0.7 + 0.1"},
      {c("a","0.1") + c("b",                      "0.7") +
           "  %p = S multiply(%x, %a)\n  %q = S multiply(%x, %b)\n"
           "  ROOT %r = S subtract(%p, %q)\n",times("-0.59999996"), "proven: -0.599999964 stands for -(0.7 - 0.1)"},
 // a narrower format
      {times("0.1"),
       "  %k = bf16[] constant(0.1001)\n  %w = f32[] convert(%k)\n"
       "  %b = S broadcast(%w), dimensions={}\n  ROOT %r = S multiply(%x, %b)\n",                                                                                                                                  "proven: 0.100097656 stands for 0.1"},
 // what needs no parameter, a function of a constant too
      {c("four",                                                     "5") + "  %q = S sqrt(%four)\n  ROOT %r = S divide(%x, %q)\n",                                                                    times("0.44721359"),
       "proven: 0.44721359 stands for 1 / q"},
      {c("four", "4") + "  %q = S sqrt(%four)\n  ROOT %r = S multiply(%x, %q)\n",times("2"),"proven"},
 // infinity is none, though the largest double rounds to it
      {"  %h = f64[] constant(1.7976931348623157e308)\n  ROOT %r = S copy(%x)\n",
       "  %i = f32[] constant(inf)\n  ROOT %r = S copy(%x)\n","proven"},
 // nothing rounds to it
      {"  ROOT %r = S copy(%x)\n",                                                                  times("1.00000012"),                                                                "unsettled"},
      {"  ROOT %r = S copy(%x)\n",                                                                         times("1.1"),                                                              "refuted"},
  };
  for (const Fold& fold : table) EXPECT_EQ(fold_told(fold), fold.verdict) << fold.before << fold.after;
}

// 1/56 and a constant of the program are the same float: which one a constant of AFTER is, the results say.
TEST(Folded, OfTwoMeaningsTheOneThatProves) {
  const std::string tail = "  %p = S multiply(%y, %m)\n  ROOT %r = S add(%q, %p)\n",
                    other = c("m", "-0.0178571437"), own = c("k", "0.0178571437"),
                    before = c("n", "56") + other + "  %q = S divide(%x, %n)\n" + tail;
  EXPECT_EQ(fold_told({before, own + other + "  %q = S multiply(%x, %k)\n" + tail, ""}),
            "proven: 0.0178571437 stands for 1 / 56");
  // here it is the other sign of the program's own
  EXPECT_EQ(fold_told({before,
                  c("n", "56") + own +
                      "  %q = S divide(%x, %n)\n  %p = S multiply(%y, %k)\n"
                      "  ROOT %r = S subtract(%q, %p)\n",
                  ""}),
            "proven");
  // and here it would have to be both
  const Proof both = of_functions(before, own +
                                              "  %q = S multiply(%x, %k)\n  %p = S multiply(%y, %k)\n"
                                              "  ROOT %r = S subtract(%q, %p)\n");
  EXPECT_EQ(name(both.finding), "unsettled");
  EXPECT_EQ(both.why, "0.0178571437 may be 0.0178571437 or 1 / 56");
}

// 0.7 times 0.1 and the sum of three others round to 0.07: where two make it nobody asks for three.
TEST(Folded, OfTwoRatherThanOfThree) {
  const std::string beside = c("e", "0.011") + c("f", "0.014") + c("g", "0.045") +
                             "  %s = S multiply(%y, %e)\n  %t = S multiply(%s, %f)\n  %u = S multiply(%t, %g)\n"
                             "  ROOT %r = S add(%q, %u)\n",
                    before = c("a", "0.1") + c("b", "0.7") + "  %p = S multiply(%x, %a)\n  %q = S multiply(%p, %b)\n",
                    after = c("k", "0.07") + "  %q = S multiply(%x, %k)\n";
  EXPECT_EQ(fold_told({before + beside, after + beside, ""}), "proven: 0.07 stands for 0.7 * 0.1");
}

// Two sums of the program's constants are the same float: nobody knows which, though one of them proves it.
TEST(Folded, OfTwoThatWereComputedNone) {
  const std::string more = c("b", "0.2") + c("d", "0.6") +
                           "  %s = S multiply(%y, %b)\n  %t = S multiply(%y, %d)\n  %u = S add(%s, %t)\n";
  const Proof proof =
      of_functions(c("a", "0.1") + c("e", "0.7") + more +
                       "  %p = S multiply(%x, %a)\n  %q = S multiply(%x, %e)\n"
                       "  %v = S add(%p, %q)\n  ROOT %r = S add(%u, %v)\n",
                   more + c("k", "0.800000012") + "  %v = S multiply(%x, %k)\n  ROOT %r = S add(%u, %v)\n");
  EXPECT_EQ(name(proof.finding), "unsettled");
  EXPECT_EQ(proof.why, "0.8 may be 0.6 + 0.2 or 0.7 + 0.1");
}

// What is computed of constants alone; not what is called or told of them, which may be another on each device.
TEST(Folded, WhatNeedsNoParameter) {
  const Module module = parse(R"(HloModule m, num_partitions=2

%own (a: s32[2]) -> s32[2] {
  %a = s32[2] parameter(0)
  %id = u32[] partition-id()
  %n = s32[] convert(%id)
  %ns = s32[2] broadcast(%n), dimensions={}
  ROOT %sum = s32[2] add(%a, %ns)
}

ENTRY %e {
  %x = s32[2] parameter(0)
  %c = s32[2] constant({1, 2})
  %free = s32[2] add(%c, %c)
  %free_as_well = s32[2] multiply(%free, %c)
  %of_x = s32[2] add(%free, %x)
  %i = s32[2] iota(), iota_dimension=0
  %called = s32[2] call(%free), to_apply=%own
  %told = s32[2] collective-permute(%c), channel_id=1, source_target_pairs={{0,1}}
  ROOT %r = s32[2] add(%called, %told)
}
)",
                              "m.txt");
  std::set<std::string> names;
  for (const Instruction* i : free_of_parameters(module)) names.insert(i->name);
  EXPECT_EQ(names, (std::set<std::string>{"free", "free_as_well"}));
}

}  // namespace
}  // namespace plumb::hlo
