// What a program computes and no draw takes to a result.
#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

// Of both modules: what a result is, in place of %y. `SUM` is what the devices add up, each its own rows.
Edits chosen(const std::string& sum, const std::string& lines) {
  const std::string head =
      "\n\n%plus (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  "
      "ROOT %c = "
      "f32[] add(%a, %b)\n}\n";
  return {
      {"num_partitions=2", "num_partitions=2" + head                              },
      {"  %r0",            "  %zero = f32[] constant(0)\n" + sum + lines + "  %r0"},
      {"tuple(%r0, %y)",   "tuple(%r0, %it)"                                      }
  };
}

const std::string kSummed = "  %sum = f32[3] reduce(%x, %zero), dimensions={0}, to_apply=%plus\n";
const std::string kParts = "  %part = f32[3] reduce(%x, %zero), dimensions={0}, to_apply=%plus\n";
const std::string kAdded = kParts +
                           "  %sum = f32[3] all-reduce(%part), channel_id=1, replica_groups={{0,1}}, "
                           "use_global_device_ids=true, to_apply=%plus\n";
const std::string kLost = kParts + "  %sum = f32[3] copy(%part)\n";

std::string compared(const std::string& name, const std::string& with, const std::string& direction) {
  return "  %k" + name + " = s32[] constant(" + with + ")\n  %p" + name + " = pred[] compare(%n, %k" + name +
         "), direction=" + direction + "\n  %" + name + " = pred[3] broadcast(%p" + name +
         "), dimensions={}\n";
}

// %n is drawn from 0 to 1023; both conditions hold of one number in a hundred.
const std::string kNested = compared("late", "700", "GE") + compared("early", "710", "LT") +
                            "  %inner = f32[3] select(%early, %sum, %y)\n"
                            "  %it = f32[3] select(%late, %inner, %y)\n";
const std::string kBoth = compared("late", "700", "GE") + compared("early", "710", "LT") +
                          "  %when = pred[3] and(%late, %early)\n  %it = f32[3] select(%when, %sum, %y)\n";
const std::string kSquare =
    "  %nn = s32[] multiply(%n, %n)\n  %k = s32[] constant(250000)\n  %ps = pred[] compare(%nn, %k), "
    "direction=EQ\n"
    "  %when = pred[3] broadcast(%ps), dimensions={}\n  %it = f32[3] select(%when, %sum, %y)\n";

// Conditions that hold together in few draws: draws are sought in which they do.
TEST(Chosen, ASumThatTwoConditionsHideIsMissed) {
  for (const std::string& lines : {kNested, kBoth}) {
    EXPECT_EQ(proof(chosen(kSummed, lines), chosen(kAdded, lines)).finding, Finding::proven) << lines;
    EXPECT_EQ(proof(chosen(kSummed, lines), chosen(kLost, lines)).finding, Finding::refuted) << lines;
  }
}

// As `jnp.where` is: one computation, which both choices call.
TEST(Chosen, EachCallOfOneComputationChoosesByItself) {
  const std::string pick =
      "\n\n%pick (when: pred[], a: f32[3], b: f32[3]) -> f32[3] {\n  %when = pred[] parameter(0)\n  %all = "
      "pred[3] "
      "broadcast(%when), dimensions={}\n  %a = f32[3] parameter(1)\n  %b = f32[3] parameter(2)\n  ROOT "
      "%picked = "
      "f32[3] select(%all, %a, %b)\n}\n";
  const auto called = [&](const std::string& sum, const std::string& lines) {
    Edits edits = chosen(sum, lines);
    edits[0].second += pick;
    return edits;
  };
  const std::string nested = compared("late", "700", "GE") + compared("early", "710", "LT") +
                             "  %inner = f32[3] call(%pearly, %sum, %y), to_apply=%pick\n"
                             "  %it = f32[3] call(%plate, %inner, %y), to_apply=%pick\n";
  EXPECT_EQ(proof(called(kSummed, nested), called(kAdded, nested)).finding, Finding::proven);
  EXPECT_EQ(proof(called(kSummed, nested), called(kLost, nested)).finding, Finding::refuted);
  const std::string never = compared("late", "700", "GE") +
                            "  %nn = s32[] multiply(%n, %n)\n  %k = s32[] constant(250000)\n  %ps = pred[] "
                            "compare(%nn, %k), direction=EQ\n"
                            "  %inner = f32[3] call(%ps, %sum, %y), to_apply=%pick\n"
                            "  %it = f32[3] call(%plate, %inner, %y), to_apply=%pick\n";
  EXPECT_EQ(proof(called(kSummed, never), called(kLost, never)).untaken,
            std::vector<std::string>{"%picked true in %inner"});
}

// Of integers, a sum that is never the least, nor where a clip ends.
TEST(Chosen, WhatAMinimumOfIntegersHidesIsTold) {
  const std::pair<const char*, const char*> table[] = {
      {"minimum(%ns, %large)",            "%kept operand 1"},
      {"maximum(%large, %larger)",        "%kept operand 0"},
      {"clamp(%ns, %ns, %large)",         "%kept operand 2"},
      {"clamp(%large, %larger, %larger)", "%kept operand 0"}
  };
  for (const auto& [kept, told] : table) {
    const std::string lines =
        "  %whole = s32[3] convert(%sum)\n  %million = s32[] constant(1000000)\n"
        "  %millions = s32[3] broadcast(%million), dimensions={}\n  %large = s32[3] add(%whole, %millions)\n"
        "  %ns = s32[3] broadcast(%n), dimensions={}\n  %n2 = s32[3] add(%ns, %millions)\n"
        "  %larger = s32[3] add(%n2, %millions)\n"
        "  %kept = s32[3] " +
        std::string(kept) + "\n  %it = f32[3] convert(%kept)\n";
    EXPECT_EQ(proof(chosen(kSummed, lines), chosen(kLost, lines)).untaken, std::vector<std::string>{told})
        << kept;
  }
}

// A difference that no draw takes to a result.
TEST(Chosen, WhatIsOnlyComputedIsTold) {
  const std::string hides = compared("late", "700", "GE") + compared("odd", "7", "EQ") +
                            "  %two = pred[3] and(%late, %odd)\n  %less = f32[3] subtract(%y, %y)\n  %it = "
                            "f32[3] select(%two, %less, %y)\n";
  EXPECT_EQ(proof(chosen(kSummed, hides), chosen(kAdded, hides)).untaken,
            std::vector<std::string>{"%it true"});
  // Where a comparison of integers had one answer, that is counted.
  const std::string below =
      "  %nn = s32[] multiply(%n, %n)\n  %k = s32[] constant(0)\n  %pk = pred[] compare(%nn, %k), "
      "direction=LT\n  %when = pred[3] broadcast(%pk), dimensions={}\n"
      "  %less = f32[3] negate(%y)\n  %it = f32[3] select(%when, %less, %y)\n";
  const Proof one = proof(chosen(kSummed, below), chosen(kAdded, below));
  EXPECT_EQ(one.untaken, std::vector<std::string>{});
  EXPECT_EQ(one.unanswered.size(), 1u);
}

// Where none is found, what hides is told.
TEST(Chosen, WhatNoDrawTakesToAResultIsTold) {
  const Proof p = proof(chosen(kSummed, kSquare), chosen(kLost, kSquare));
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_EQ(p.untaken, std::vector<std::string>{"%it true"});
}

// A select that another hides is not told beside it, nor one that hides what nothing has to move for.
TEST(Chosen, OnlyTheFirstThatHidesAndOnlyWhatMoves) {
  const std::string twice = with(kSquare, {
                                              {"select(%when, %sum, %y)", "select(%when, %inner, %y)"}
  });
  const std::string nested =
      compared("late", "700", "GE") + "  %inner = f32[3] select(%late, %sum, %y)\n" + twice;
  EXPECT_EQ(proof(chosen(kSummed, nested), chosen(kAdded, nested)).untaken,
            std::vector<std::string>{"%it true"});
  const std::string light = with(kSquare, {
                                              {"select(%when, %sum, %y)", "select(%when, %twice, %y)"           },
                                              {"  %nn",                   "  %twice = f32[3] add(%y, %y)\n  %nn"}
  });
  EXPECT_EQ(proof(chosen("", light), chosen("", light)).untaken, std::vector<std::string>{});
}

// What a predicate reads came to a result, and so did what both operands have in common.
TEST(Chosen, WhatDecidesOrIsReadElsewhereIsNotHidden) {
  const std::string read = with(kSquare, {
                                             {"select(%when, %sum, %y)", "select(%when, %sum, %other)"                },
                                             {"  %nn",                   "  %other = f32[3] subtract(%y, %sum)\n  %nn"}
  });
  EXPECT_EQ(proof(chosen(kSummed, read), chosen(kAdded, read)).untaken, std::vector<std::string>{});
  EXPECT_EQ(proof(chosen(kSummed, read), chosen(kLost, read)).finding, Finding::refuted);
}

}  // namespace
}  // namespace plumb::hlo
