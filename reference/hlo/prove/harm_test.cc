// What moves a result on some ways alone is seen to move one, where the proof goes these ways.
#include "reference/hlo/prove/harm.h"

#include <gtest/gtest.h>

#include "reference/hlo/prove/faults.h"

namespace plumb::hlo {
namespace {

constexpr const char* kCalled = R"(HloModule m, num_partitions=2

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%any (a: pred[], b: pred[]) -> pred[] {
  %a = pred[] parameter(0)
  %b = pred[] parameter(1)
  ROOT %s = pred[] or(%a, %b)
}

%none (x: f32[4]) -> f32[] {
  %x = f32[4] parameter(0)
  ROOT %o = f32[] constant(0)
}

%added (x: f32[4]) -> f32[] {
  %x = f32[4] parameter(0)
  %o = f32[] constant(0)
  ROOT %s = f32[] reduce(%x, %o), dimensions={0}, to_apply=%sum
}

ENTRY %e {
  %x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  %p = pred[4] parameter(1), sharding={devices=[2]<=[2]}
  %n = s32[] parameter(2), sharding={replicated}
  %no = pred[] constant(false)
  %o = f32[] constant(0)
LINES
  ROOT %t = (f32[]) tuple(%r), sharding={{replicated}}
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Where devices hold half of %x and of %p, and add up what they have of a sum.
Module partitioned(std::string text) {
  const std::string told = ", replica_groups={{0,1}}, use_global_device_ids=true, to_apply=";
  for (const std::string annotation :
       {", sharding={devices=[2]<=[2]}", ", sharding={replicated}", ", sharding={{replicated}}"})
    text = replaced(text, annotation, "");
  text = replaced(replaced(text, "f32[4]", "f32[2]"), "pred[4]", "pred[2]");
  text =
      replaced(text, "ROOT %s = f32[] reduce(%x, %o), dimensions={0}, to_apply=%sum",
               "%h = f32[] reduce(%x, %o), dimensions={0}, to_apply=%sum\n  ROOT %s = f32[] all-reduce(%h), "
               "channel_id=1" +
                   told + "%sum");
  text = replaced(text, "%y = pred[] reduce(%p, %no), dimensions={0}, to_apply=%any",
                  "%h = pred[] reduce(%p, %no), dimensions={0}, to_apply=%any\n  %y = pred[] all-reduce(%h), "
                  "channel_id=1" +
                      told + "%any");
  return parse(text, "after");
}

const std::string kSwitch = "  %r = f32[] conditional(%n, %x, %x, %x, %x, %x), branch_computations=",
                  kDecided = "  %l = f32[] constant(1)\n  %r = f32[] select(%y, %l, %o)";
const std::vector<std::pair<std::string, std::string>> kPrograms = {
    {"the second branch", kSwitch + "{%none, %added, %none, %none, %none}"                                    },
    {"the third branch",  kSwitch + "{%none, %none, %added, %none, %none}"                                    },
    {"the fourth branch", kSwitch + "{%none, %none, %none, %added, %none}"                                    },
    {"whether any holds", "  %y = pred[] reduce(%p, %no), dimensions={0}, to_apply=%any\n" + kDecided         },
    {"a place so far",    "  %k = s32[] constant(2)\n  %y = pred[] compare(%n, %k), direction=LT\n" + kDecided}
};

// What is less than false is no predicate, and what is no more than false is one: where the one that is asked
// is true in every draw nothing moves, and nobody knows that it always is.
TEST(Harm, OfASingleNumberWhatIsAlikeIsNotTheSame) {
  const std::string text =
      replaced(kCalled, "LINES",
               "  %zero = s32[] constant(0)\n  %seven = s32[] constant(7)\n  %m = s32[] and(%n, %seven)\n"
               "  %is = pred[] compare(%m, %zero), direction=GE\n  %one = pred[1] reshape(%is)\n"
               "  %none = pred[1] reshape(%no)\n  %mask = pred[1] compare(%one, %none), direction=LT\n"
               "  %y = pred[] reshape(%mask)\n" +
                   kDecided);
  const Module before = parse(text, "before"), after = partitioned(text);
  const auto c = static_cast<std::size_t>(after.entry);
  const auto& lines = after.computations[c].instructions;
  const auto i =
      static_cast<std::size_t>(std::ranges::find(lines, "mask", &Instruction::name) - lines.begin());
  const auto fault = std::ranges::find(faults(), "a mask off by one", &Fault::name);
  const auto faulty = planted(after, *fault, c, i);
  ASSERT_TRUE(faulty);
  Rightly rightly;
  EXPECT_EQ(harm_of({before, after, nullptr}, rightly, {*faulty, c, i}), Harm::alike);
}

TEST(Harm, WhatIsRefutedOnOneWayMovesAResult) {
  for (const auto& [what, lines] : kPrograms) {
    const std::string text = replaced(kCalled, "LINES", lines);
    const Module before = parse(text, "before"), after = partitioned(text);
    const Subject right{before, after, nullptr};
    ASSERT_EQ(prove(right, {}).finding, Finding::proven) << what;
    Rightly rightly;
    int refuted = 0;
    for (const Fault& fault : faults())
      for (std::size_t c = 0; c < after.computations.size(); ++c)
        for (std::size_t i = 0; i < after.computations[c].instructions.size(); ++i) {
          const auto faulty = planted(after, fault, c, i);
          if (!faulty) continue;
          const Proof proof = prove({before, *faulty, nullptr}, {});
          const bool is = proof.finding == Finding::refuted;
          refuted += is;
          EXPECT_EQ(harm_of(right, rightly, {*faulty, c, i, refuting_draw(proof)}) == Harm::moved, is)
              << what << ": " << fault.name << " at " << after.computations[c].instructions[i].name;
        }
    EXPECT_GT(refuted, 0) << what;
  }
}

}  // namespace
}  // namespace plumb::hlo
