// A plan of a product: each step is of an array, where it is said to be of it, and does something for it.
#include <fmt/format.h>
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
  std::string steps;
  for (const Collective& one : row.trace) steps += fmt::format(" {} {}-{}", one.kind, one.in, one.out);
  SCOPED_TRACE(row.line + steps + " " + row.says);
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

// Of one term one device makes all, and the others nothing: of two terms two do, and the third nothing.
TEST(PlanMeets, PartsMayBeOfNothing) {
  const auto meets = [](const std::string& mesh, const std::string& k, const std::string& result, Trace trace,
                        const char* says) {
    const std::string lhs = "f32[" + k + "@x]", rhs = "f32[" + k + "@x,3]";
    expect_meets({
        "on " + mesh + ": einsum k,kn->n " + lhs + " " + rhs + " -> " + result,
        {{lhs, rhs}, result},
        std::move(trace),
        says
    });
  };
  const auto permute = [](std::vector<std::pair<std::int64_t, std::int64_t>> pairs) {
    Collective step;
    step.kind = "collective-permute", step.pairs = std::move(pairs), step.in = step.out = 12;
    return step;
  };
  const Collective gather = one_step("all-gather", "x", 12, 12), sum = sum_over("x", 12);
  for (const std::string mesh : {"x=2", "x=3", "x=4"}) {
    meets(mesh, "1", "f32[3]", {gather}, "");
    meets(mesh, "1", "f32[3]", {sum}, "");
    meets(mesh, "1", "f32[3]", {}, "does not compute");
    meets(mesh, "1", "f32[3]", {one_step("all-gather", "x", 8, 8)}, "does not compute");
    meets(mesh, "1", "f32[3]+x", {}, "");
    meets(mesh, "0", "f32[3]", {}, "");
  }
  const Collective there = permute({{0, 1}}), back = permute({{1, 0}}), on = permute({{1, 2}});
  meets("x=2", "1", "f32[3@x]", {there}, "");
  meets("x=2", "1", "f32[3@x]", {back}, "does not compute");
  meets("x=3", "2", "f32[3]", {sum}, "");
  const Collective apart = permute({
      {0, 1},
      {1, 0}
  });
  meets("x=3", "2", "f32[3]", {apart, on}, "");
  meets("x=3", "2", "f32[3]", {apart}, "does not compute");
  meets("x=3", "2", "f32[3]", {on, apart}, "does not compute");
  meets("x=3", "2", "f32[3]", {gather}, "does not compute");
}

// Two devices make a term each, the others none; one alone is due the sums. Of 66 parts no terms are counted.
TEST(PlanMeets, WhoMadeSomeTermsIsBroughtTheOthers) {
  const ProductPlan plan{
      {"f32[2@x]", "f32[2@x,1,3]"},
      "f32[1@x,3]"
  };
  Collective permute;
  permute.kind = "collective-permute";
  permute.pairs = {
      {1, 0}
  };
  for (const std::string mesh : {"x=3", "x=66"})
    for (std::int64_t bytes : {8, 12}) {
      permute.in = permute.out = bytes;
      expect_meets({"on " + mesh + ": einsum k,kmn->mn f32[2@x] f32[2@x,1,3] -> f32[1@x,3]",
                    plan,
                    {permute},
                    bytes == 8 ? "does not compute" : ""});
    }
}

// Of an operand, or of the result, each sum by several collectives: together no more than it has.
TEST(PlanMeets, SumsMayBeInPieces) {
  const std::string line = "on x=2: einsum mk,kn->mn bf16[8,4]+x bf16[4,8] -> f32[8,8] wire=f32";
  const ProductPlan of_operand{
      {"bf16[8,4]", "bf16[4,8]"},
      "f32[8,8]"
  },
      of_result{{"bf16[8,4]+x", "bf16[4,8]"}, "f32[8,8]"};
  const auto sums = [](std::vector<std::int64_t> bytes, std::int64_t times) {
    Trace trace;
    for (std::int64_t n : bytes) trace.push_back(sum_over("x", n * times));
    return trace;
  };
  for (const auto& [bytes, right] : std::vector<std::pair<std::vector<std::int64_t>, bool>>{
           {{64},         true },
           {{32, 32},     true },
           {{16, 16, 32}, true },
           {{32, 64},     false},
           {{64, 64},     false},
           {{32},         false},
           {{16, 16},     false}
  }) {
    expect_meets({line, of_operand, sums(bytes, 1), right ? "" : "does not compute"});
    expect_meets({line, of_result, sums(bytes, 4), right ? "" : "does not compute"});
  }
  Trace apart = sums({32, 32}, 1);
  apart.insert(apart.begin() + 1, one_step("all-gather", "x", 64, 64));
  expect_meets({line, of_operand, apart, ""});  // of the other operand
  const std::string both = "on x=2: einsum mk,kn->mn f32[8,4]+x f32[4,8]+x -> f32[8,8]";
  const ProductPlan finished{
      {"f32[8,4]", "f32[4,8]"},
      "f32[8,8]"
  };
  expect_meets({both, finished, sums({64, 64, 64, 64}, 1), ""});
  expect_meets({both, finished, sums({128, 64, 64}, 1), ""});
  expect_meets({both, finished, sums({64, 64, 64}, 1), "does not compute"});
}

// Half a value is none, of a sum that is left in parts too.
TEST(PlanMeets, NoPartOfAValueIsSent) {
  const std::string line = "on x=2,y=2: einsum k,k-> f32[4@x] f32[4@x] -> f32[]+y";
  const ProductPlan plan{
      {"f32[4@x]", "f32[4@x]"},
      "f32[]+y"
  };
  for (const char* kind : {"all-reduce", "all-gather"})
    for (std::int64_t bytes : {1, 2, 3, 4}) {
      const Collective one = one_step(kind, "x", bytes, kind[4] == 'g' ? 2 * bytes : bytes);
      expect_meets({line, plan, {one}, one.out >= 4 && bytes == 4 ? "" : "does not compute"});
    }
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

// What was gathered is summed in pieces of what there is then, and of the rest no more.
TEST(PlanMeets, WhatWasGatheredMayBeSummedInPieces) {
  const std::string line = "on y=2,x=2: einsum nz,zb->nb f16[8,4@x]+y f16[4,4@x] -> f32[8,4]";
  const ProductPlan plan{
      {"f16[8,4]", "f16[4,4]"},
      "f32[8,4]"
  };
  const Collective gather = one_step("all-gather", "x", 32, 64), other = one_step("all-gather", "x", 16, 32),
                   whole = sum_over("y", 64), half = sum_over("y", 32);
  for (const auto& [trace, says] : std::vector<std::pair<Trace, const char*>>{
           {{gather, whole, other},       ""     },
           {{gather, half, half, other},  ""     },
           {{half, gather, other},        ""     },
           {{half, half, gather, other},  "twice"},
           {{gather, whole, whole, other}, "twice"},
           {{gather, whole, half, other}, "twice"},
  })
    expect_meets({line, plan, trace, says});
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
