// A plan of a product: where it says that its result lies, and the chain through which it goes from there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/planned.h"

namespace plumb {
namespace {

using testing::HasSubstr;

// A product on two devices, and what its verdict says; empty: it passes.
struct ProductRow {
  std::string lhs, rhs, chain, result;
  Trace trace;
  const char* says;
};

void expect_product_judged(const std::string& mesh, const ProductRow& row) {
  const std::string line = fmt::format("{}: einsum mk,kn->mn {} {} -> {}", mesh, row.lhs, row.rhs, row.chain);
  const ProductPlan plan{
      {row.lhs, row.rhs},
      row.result
  };
  for (const bool groups : {false, true}) {
    const Trace trace = groups ? by_groups(parse_case(line).mesh, row.trace) : row.trace;
    SCOPED_TRACE(fmt::format("{}, its result {}, {} steps{}", line, row.result, trace.size(),
                             groups ? " by groups" : ""));
    const Verdict verdict = Planned(line, plan, trace).verdict();
    EXPECT_EQ(verdict.status, *row.says ? Status::wrong : Status::pass)
        << (verdict.facts.empty() ? "" : verdict.facts[0].text);
    if (*row.says && !verdict.facts.empty()) {
      EXPECT_THAT(verdict.facts[0].text, HasSubstr(row.says));
    }
  }
}

Collective step(const char* kind, const std::string& axis, std::int64_t in, std::int64_t out) {
  Collective one = sum_over(axis, in);
  one.kind = kind, one.out = out;
  return one;
}

// Halves of the terms of f32[8,8] on each of two devices, and each layout it may be said to have after its
// sums.
TEST(PlanResult, ItLiesAsIsSaidWhereItsTermsAreSummed) {
  const Collective scatter = step("reduce-scatter", "x", 256, 128),
                   gather = step("all-gather", "x", 128, 256), all = step("all-reduce", "x", 256, 256),
                   turn = step("all-to-all", "x", 128, 128);
  const std::string rows = "f32[8@x,8]", columns = "f32[8,8@x]", whole = "f32[8,8]", parts = "f32[8,8]+x";
  const struct {
    std::string result;
    Trace trace;
    std::vector<std::string> said;  // with which it passes
  } table[] = {
      {rows,    {scatter},         {rows}                },
      {rows,    {scatter, turn},   {rows, columns}       },
      {rows,    {all},             {rows, whole}         },
      {whole,   {all},             {whole}               },
      {whole,   {scatter, gather}, {rows, columns, whole}},
      {columns, {scatter},         {columns}             },
      {columns, {all},             {columns, whole}      },
      {parts,   {},                {parts}               },
  };
  for (const auto& row : table)
    for (const std::string& said : {rows, columns, whole, parts}) {
      const bool so = std::ranges::count(row.said, said) > 0;
      expect_product_judged("on x=2", {"f32[8,4@x]", "f32[4@x,8]", row.result, said, row.trace,
                                       so ? "" : "does not compute the case"});
    }
}

// What each device holds stands for a part of the last layout that left it in parts: those of a product are
// its terms, those of its result are of that.
TEST(PlanResult, ItsChainIsExecutedFromThere) {
  const Collective x = step("all-reduce", "x", 64, 64), y = step("all-reduce", "y", 64, 64),
                   scatter = step("reduce-scatter", "x", 64, 32), gather = step("all-gather", "x", 32, 64);
  const std::string whole = "f32[4,4]", parts = "f32[4,4]+x", rows = "f32[4@x,4]", k = "f32[4,4@x]";
  const std::string there = parts + " -> " + whole, back = whole + " -> " + there;
  const ProductRow table[] = {
      {whole, whole, there,                  parts, {x},               ""                        },
      {whole, whole, there,                  whole, {x},               ""                        },
      {whole, whole, there,                  parts, {scatter, gather}, ""                        },
      {whole, whole, there,                  whole, {},                ""                        }, // it is whole already
      {whole, whole, there,                  parts, {},                "takes no sum over x"     }, // dropped
      {whole, whole, there,                  parts, {scatter},         "its layouts need"        },
      {whole, whole, there,                  parts, {x, x},            "does not compute"        }, // doubled
      {whole, whole, there,                  whole, {x, x},            "sums twice over one axis"},
      {whole, whole, there,                  parts, {y},               "takes no sum over x"     }, // another axis
      {whole, whole, there,                  parts, {x, y},            "nothing is unfinished"   },
      {whole, whole, there,                  rows,  {},                "its layouts need"        }, // another result
      {whole, whole, parts + " -> " + rows,  parts, {scatter},         ""                        },
      {whole, whole, parts + " -> " + rows,  parts, {x},               ""                        },
      {rows,  whole, parts + " -> " + rows,  parts, {scatter},         ""                        },
      {rows,  whole, parts + " -> " + whole, parts, {x},               ""                        },
      {rows,  whole, parts + " -> " + whole, parts, {},                "takes no sum over x"     },
      {k,     rows,  there,                  parts, {x},               ""                        }, // its terms
      {k,     rows,  there,                  parts, {x, x},            "does not compute"        },
      {k,     rows,  there,                  whole, {x, x},            ""                        }, // parts of it whole
      {k,     rows,  back,                   whole, {x, x},            ""                        },
      {k,     rows,  back,                   whole, {x},               ""                        },
      {k,     rows,  back,                   whole, {x, x, x},         "does not compute"        },
      {k,     rows,  back,                   whole, {},                "of 4 terms"              },
      {k,     rows,  whole + " -> " + whole, whole, {x, x},            "sums twice over one axis"},
  };
  for (const ProductRow& row : table) expect_product_judged("on x=2,y=2", row);
}

// What a product is left unfinished over is so in the case, and a sum.
TEST(PlanResult, ItIsLeftUnfinishedAsTheCaseLeavesIt) {
  const std::string whole = "f32[4,4]", k = "f32[4,4@x]", rows = "f32[4@x,4]";
  const Collective x = step("all-reduce", "x", 64, 64);
  for (const std::string said : {"f32[4,4]+max(x)", "f32[4,4]+avg(x)", "f32[4,4]+y"}) {
    expect_product_judged("on x=2,y=2", {whole, whole, "f32[4,4]+x", said, {}, "after its sums"});
    expect_product_judged("on x=2,y=2", {k, rows, whole, said, {x}, "after its sums"});
  }
}

// Parts of a sum are not those of a maximum, nor of a mean.
TEST(PlanResult, PartsOfAnotherReductionAreValuesOfTheirOwn) {
  const auto judged = [](const std::string& last, Trace trace) {
    return Planned("on x=2: reshard f32[8]+x -> f32[8] -> f32[8]+" + last, {}, std::move(trace))
        .verdict()
        .status;
  };
  EXPECT_EQ(judged("x", {}), Status::pass);
  for (const std::string last : {"max(x)", "avg(x)"}) {
    EXPECT_EQ(judged(last, {}), Status::wrong) << last;
    EXPECT_EQ(judged(last, {step("all-reduce", "x", 32, 32)}), Status::pass) << last;
  }
}

// A layout that is none of the program's.
TEST(PlanResult, ItIsALayoutOfTheProgram) {
  const ProductPlan open{
      {"f32[4,4]", "f32[4,4]"},
      "f32[4,4]?"
  },
      outside{{"f32[4,4]", "f32[4,4]"}, "f32[4,4]+y"};
  for (const ProductPlan& plan : {open, outside}) {
    const auto verdict =
        Planned("on x=2 of x=2,y=3: einsum mk,kn->mn f32[4,4] f32[4,4] -> f32[4,4]+x", plan, {}).verdict();
    EXPECT_EQ(verdict.status, Status::misplaced) << plan.result;
  }
}

// What stays in parts on many devices is looked through one after another.
TEST(PlanResult, ItMayStayInPartsOnManyDevices) {
  expect_product_judged("on x=256", {"f32[2,2]", "f32[2,2]", "f32[2,2]+x", "f32[2,2]+x", {}, ""});
  EXPECT_EQ(Planned("on x=256: reshard f32[2]+x -> f32[2]+x", {}, {}).verdict().status, Status::pass);
}

// Operand 1 is f32[4,4@x] and has to be whole: each device sends its half to the other. Operand 0 has no part in it.
TEST(PlanResult, ASendBetweenPairsMayBeOfOneOperand) {
  Collective swapped;
  swapped.kind = "send", swapped.pairs = {{0, 1}, {1, 0}}, swapped.in = swapped.out = 32;
  const Planned planned("on x=2: einsum mk,kn->mn f32[4@x,4] f32[4,4@x] -> f32[4@x,4]", {{"f32[4@x,4]", "f32[4,4]"}, "f32[4@x,4]"},
                        {swapped});
  const Verdict verdict = planned.verdict();
  EXPECT_EQ(verdict.status, Status::pass) << (verdict.facts.empty() ? "" : verdict.facts[0].text);
}

// Of what every collective together makes of an operand nobody can say; its sum is missing.
TEST(PlanResult, WhatNobodyCanExecuteEndsInAVerdict) {
  const auto over = [](const char* kind, std::vector<std::string> axes, std::int64_t in, std::int64_t out) {
    Collective one;
    one.kind = kind, one.axes = std::move(axes), one.in = in, one.out = out;
    return one;
  };
  const Planned planned("on x=3,w=2,dp=2: einsum k,k-> bf16[6@x.dp] bf16[6]+x.w.dp -> bf16[]",
                        {{"bf16[6@dp.x]", "bf16[6@dp.x]"}, "bf16[]"},
                        {over("all-gather", {"dp"}, 2, 4), over("all-gather", {"x"}, 4, 12),
                         over("all-reduce", {"x", "w", "dp"}, 12, 12)});
  EXPECT_EQ(planned.verdict().status, Status::wrong);
}

}  // namespace
}  // namespace plumb
