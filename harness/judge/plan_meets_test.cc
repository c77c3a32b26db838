// A plan of a product: each step is of an array, where it is said to be of it, and does something for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/planned.h"

namespace plumb {
namespace {

using testing::HasSubstr;

Collective one_step(const char* kind, const std::string& axis, std::int64_t in, std::int64_t out) {
  Collective one = sum_over(axis, in);
  one.kind = kind, one.out = out;
  return one;
}

struct MeetsRow {
  std::string line;
  ProductPlan plan;
  Trace trace;
  const char* says;  // empty: it passes
};

void expect_meets(const MeetsRow& row) {
  SCOPED_TRACE(row.line + " " + row.says);
  const Verdict verdict = Planned(row.line, row.plan, row.trace).verdict();
  EXPECT_EQ(verdict.status, *row.says ? Status::wrong : Status::pass)
      << (verdict.facts.empty() ? "" : verdict.facts[0].text);
  if (*row.says && !verdict.facts.empty()) {
    EXPECT_THAT(verdict.facts[0].text, HasSubstr(row.says));
  }
}

// The operand is f32[4,4] in two parts, the result f32[16,4] in two.
TEST(PlanMeets, WhatIsMultipliedIsFinishedBefore) {
  const std::string line = "on x=2: einsum mk,kn->mn f32[16,4@x] f32[4,4]+x -> f32[16@x,4]";
  const ProductPlan plan{
      {"f32[16,4@x]", "f32[4@x,4]"},
      "f32[16@x,4]"
  };
  const Collective of_operand = one_step("reduce-scatter", "x", 64, 32),
                   of_result = one_step("reduce-scatter", "x", 256, 128);
  expect_meets({
      line, plan, {of_operand, of_result},
        ""
  });
  expect_meets({
      line, plan, {of_result, of_operand},
        "does not compute"
  });
}

// Each device has a fourth of the terms of eight elements, and is brought three quarters of them, or half.
TEST(PlanMeets, PartsAreGatheredWhole) {
  const std::string line = "on x=4: einsum mk,kn->mn f32[2,4@x] f32[4@x,4] -> f32[2,4]",
                    few = "on x=4: einsum mk,kn->mn f32[2,3@x] f32[3@x,4] -> f32[2,4]";  // one has no terms
  const ProductPlan plan{
      {"f32[2,4@x]", "f32[4@x,4]"},
      "f32[2,4]"
  },
      of_few{{"f32[2,3@x]", "f32[3@x,4]"}, "f32[2,4]"};
  expect_meets({line, plan, {one_step("all-gather", "x", 32, 128)}, ""});
  expect_meets({line, plan, {one_step("all-gather", "x", 16, 64)}, "does not compute"});
  expect_meets({few, of_few, {one_step("all-gather", "x", 32, 128)}, ""});
  expect_meets({few, of_few, {one_step("all-gather", "x", 16, 64)}, "does not compute"});
}

// The second sum is of nothing: not of the result, which is one already, nor of the other operand, whose
// blocks lie as they are multiplied.
TEST(PlanMeets, EachSumIsOfWhatNeedsOne) {
  const std::string line = "on x=2: einsum mk,kn->mn f32[4,4@x] f32[4,4]+x -> f32[4,4]";
  const ProductPlan plan{
      {"f32[4,4@x]", "f32[4@x,4]"},
      "f32[4,4]"
  };
  const Collective of_operand = one_step("reduce-scatter", "x", 64, 32), sum = sum_over("x", 64),
                   gather = one_step("all-gather", "x", 32, 64);
  for (const auto& [trace, says] : std::vector<std::pair<Trace, const char*>>{
           {{of_operand, sum},                            ""          },
           {{of_operand, of_operand, gather},             ""          }, // the sum of the result is scattered
           {{of_operand, sum, sum},                       "sums twice"},
           {{of_operand, of_operand, sum},                ""          },
           {{of_operand, of_operand, of_operand, gather}, "sums twice"},
           {{sum, sum, sum},                              "sums twice"},
  })
    expect_meets({line, plan, trace, says});
}

// What a send brought is not known: parts may still have to be added up.
TEST(PlanMeets, ASumAfterASendMayBeNeeded) {
  Collective moves = one_step("send", "x", 96, 56), on = one_step("send", "x", 80, 96);
  moves.moved = 168, on.axes = {"x", "y"}, on.moved = 480;
  Collective sum = one_step("reduce-scatter", "x", 144, 80);
  sum.moved = 288;
  expect_meets({
      "on x=2,y=3: einsum bKn,zKn->nzb f8e5m2[7@x,2,12] f32[3,2@y,12]+x -> f8e4m3[12@y,3,7] nested",
      {{"f8e5m2[7,2,12@y]", "f32[3,2,12@y]"}, "f8e4m3[12@y,3,7]"},
      { moves,                                  sum,                 on},
      ""
  });
}

// The terms of both halves of k are brought to each device, and added up there.
TEST(PlanMeets, PartsMayBeGatheredBeforeTheyAreSummed) {
  const std::string line = "on x=2,y=2: einsum mk,kn->mn f32[4,4@x] f32[4@x,4@y] -> f32[4,4]";
  const ProductPlan plan{
      {"f32[4,4@x]", "f32[4@x,4@y]"},
      "f32[4,4]"
  };
  const Collective columns = one_step("all-gather", "y", 32, 64), sum = sum_over("x", 64);
  expect_meets({
      line, plan, {columns, sum},
        ""
  });
  expect_meets({
      line, plan, {columns, one_step("all-gather", "x", 64, 128)},
        ""
  });
  expect_meets({line, plan, {columns}, "does not compute"});
  expect_meets({
      line, plan, {columns, sum_over("x", 32)},
        "does not compute"
  });
}

// A part of one operand times the other is a part of the product; a part of the one times a part of the other
// is one of four, of which each device makes another only where they are parts along axes of their own.
TEST(PlanMeets, OperandsMayBeMultipliedInParts) {
  const std::string whole = "f32[4,4]", x = "f32[4,4]+x", y = "f32[4,4]+y", most = "f32[4,4]+max(x)";
  const auto on = [](const std::string& lhs, const std::string& rhs, const std::string& to) {
    return "on x=2,y=2: einsum mk,kn->mn " + lhs + " " + rhs + " -> " + to;
  };
  const Collective sum = sum_over("x", 64), of_y = sum_over("y", 64),
                   both = one_step("all-reduce", "x", 64, 64);
  expect_meets({
      on(x, whole, whole), {{x, whole}, whole},
         {sum         },
         ""
  });
  expect_meets({
      on(x, whole, x), {{x, whole}, x},
         {          },
         ""
  });
  expect_meets({
      on(x, whole, whole), {{x, whole}, whole},
         {          },
         "does not compute"
  });
  expect_meets({
      on(x, y, whole), {{x, y}, whole},
         {sum,    of_y },
         ""
  });
  expect_meets({
      on(x, y, whole), {{x, y}, whole},
         {sum     },
         "does not compute"
  });
  expect_meets({
      on(x, x, whole), {{x, x}, whole},
         {both     },
         "does not compute"
  });
  expect_meets({
      on(x, x, whole), {{whole, x}, whole},
         {sum,        sum  },
         ""
  });
  expect_meets({
      on(x, whole, whole),
      {{most, whole}, whole},
      {sum            },
      "is multiplied before the max of its parts is taken"
  });
}

}  // namespace
}  // namespace plumb
