// A plan of a product is judged by what it would compute and move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/planned.h"

namespace plumb {
namespace {

using testing::HasSubstr;

Collective with(Collective step, const std::string& op, std::int64_t times = 1) {
  step.op = op, step.times = times;
  return step;
}

TEST(Plan, EachTermOnceIsAPass) {
  const Planned plan(row_times_column,
                     {
                         {"f32[4,8@x]", "f32[8@x,4]"},
                         "f32[4,4]"
  },
                     {sum_over("x", 64)});
  const Verdict verdict = plan.verdict();
  EXPECT_EQ(verdict.status, Status::pass);
  EXPECT_TRUE(verdict.plan);
}

TEST(Plan, GatheredOperandsNeedNoSum) {
  EXPECT_EQ(Planned(row_times_column,
                    {
                        {"f32[4,8]", "f32[8,4]"},
                        "f32[4,4]"
  },
                    {gather_over("x", 64, 128), gather_over("x", 64, 128)})
                .verdict()
                .status,
            Status::pass);
}

TEST(Plan, WhatDoesNotComputeTheCaseIsWrong) {
  const struct {
    const char* what;
    ProductPlan plan;
    Trace trace;
    const char* says;
  } table[] = {
      {"no sum",                    {{"f32[4,8@x]", "f32[8@x,4]"}, "f32[4,4]"}, {}, "4 of 8 terms over k"},
      {"sum over another axis",
       {{"f32[4,8@x]", "f32[8@x,4]"}, "f32[4,4]"},
       {sum_over("y", 64)},
       "more than once"                                                                                  },
      {"sum over more axes",
       {{"f32[4,8@x]", "f32[8@x,4]"}, "f32[4,4]"},
       {sum_over("x", 64), sum_over("y", 64)},
       "more than once"                                                                                  },
      {"the same sum twice",
       {{"f32[4,8@x]", "f32[8@x,4]"}, "f32[4,4]"},
       {sum_over("x", 64), sum_over("x", 64)},
       "sums twice over one axis"                                                                        },
      {"other pieces of k",
       {{"f32[4,8@x]", "f32[8@y,4]"}, "f32[4,4]"},
       {sum_over("x", 64)},
       "other pieces of k in its operands"                                                               },
      {"rows of others summed",
       {{"f32[4@x,8]", "f32[8,4]"}, "f32[4,4]"},
       {sum_over("x", 32)},
       "makes 0:2 of m, and is said to hold 0:4"                                                         },
      {"a result that nobody made", {{"f32[4@x,8]", "f32[8,4]"}, "f32[4,4]"},   {}, "makes 0:2 of m"     },
      {"a gather left out",
       {{"f32[4,8]", "f32[8,4]"}, "f32[4,4]"},
       {},
       "it moves 0 bytes, its layouts need 512"                                                          },
      {"a maximum for the sum",
       {{"f32[4,8@x]", "f32[8@x,4]"}, "f32[4,4]"},
       {with(sum_over("x", 64), "max")},
       "takes the max over x, where the sum is due"                                                      },
      {"a sum in a loop",
       {{"f32[4,8@x]", "f32[8@x,4]"}, "f32[4,4]"},
       {with(sum_over("x", 64), "add", 2)},
       "sums 2 times over x"                                                                             },
  };
  for (const auto& row : table) {
    const Verdict verdict = Planned(row_times_column, row.plan, row.trace).verdict();
    EXPECT_EQ(verdict.status, Status::wrong) << row.what;
    if (!verdict.facts.empty()) {
      EXPECT_THAT(verdict.facts[0].text, HasSubstr(row.says)) << row.what;
    }
  }
}

TEST(Plan, TwoContractedDimensionsMustMeetOneByOne) {
  const std::string line = "on x=2: einsum mab,abn->mn f32[4,4@x,4] f32[4,4@x,4] -> f32[4,4]";
  const Verdict verdict = Planned(line,
                                  {
                                      {"f32[4,4@x,4]", "f32[4,4@x,4]"},
                                      "f32[4,4]"
  },
                                  {sum_over("x", 64)})
                              .verdict();
  EXPECT_EQ(verdict.status, Status::wrong) << "as large, but other elements";
  EXPECT_THAT(verdict.facts[0].text, HasSubstr("other pieces of a"));
}

TEST(Plan, OrderOfAxesIsNotTheSameLayout) {
  const std::string line = "on x=2,y=2: einsum mk,kn->mn f32[4,8@x.y] f32[8@y.x,4] -> f32[4,4]";
  EXPECT_EQ(Planned(line,
                    {
                        {"f32[4,8@x.y]", "f32[8@y.x,4]"},
                        "f32[4,4]"
  },
                    {sum_over("x", 64), sum_over("y", 64)})
                .verdict()
                .status,
            Status::wrong);
}

TEST(Plan, NoLayoutIsMisplaced) {
  EXPECT_EQ(Planned(row_times_column,
                    {
                        {"f32[4@x,8@x]", "f32[8@x,4]"},
                        "f32[4,4]"
  },
                    {})
                .verdict()
                .status,
            Status::misplaced);
  Planned plan(row_times_column,
               {
                   {"f32[4,8@x]", "f32[8@x,4]"},
                   "f32[4@x,4@x]"
  },
               {});
  plan.outcome.claims = {"f32[4@x,4@x]"};
  EXPECT_EQ(plan.verdict().status, Status::misplaced);
}

TEST(Plan, AReshardMovesAndSumsWhatItMust) {
  const Collective x = sum_over("x", 32), y = sum_over("y", 32);
  const struct {
    const char* reshard;
    Trace trace;
    const char* says;  // empty: a pass
  } table[] = {
      {"f32[8]+x -> f32[8]",        {x},                              ""                                             },
      {"f32[8]+x.y -> f32[8]",      {x, y},                           ""                                             },
      {"f32[8]+avg(x)+y -> f32[8]", {with(x, "avg"), with(y, "add")}, ""                                             },
      {"f32[8]+max(x) -> f32[8]",   {with(x, "max")},                 ""                                             },
      {"f32[8@x] -> f32[8]",        {gather_over("x", 16, 32)},       ""                                             },
      {"f32[8] -> f32[8@x]",        {},                               ""                                             },
      {"f32[8@x] -> f32[8]",        {},                               "it moves 0 bytes, its layouts need 64"        },
      {"f32[8]+x -> f32[8]",        {},                               "takes no sum over x"                          },
      {"f32[8]+x.y -> f32[8]+y",    {y},                              "takes no sum over x"                          },
      {"f32[8]+x -> f32[8]",        {y},                              "takes no sum over x"                          },
      {"f32[8]+x -> f32[8]",        {x, y},                           "sums over y, over which nothing is unfinished"},
      {"f32[8]+x -> f32[8]",        {x, x},                           "sums twice over one axis"                     },
      {"f32[8]+x -> f32[8]",        {with(x, "add", 3)},              "sums 3 times over x"                          },
      {"f32[8]+x -> f32[8]",        {with(x, "max")},                 "takes the max over x, where the sum is due"   },
      {"f32[8]+x -> f32[8]",        {with(x, "avg")},                 "takes the avg over x, where the sum is due"   },
      {"f32[8]+max(x) -> f32[8]",   {with(x, "add")},                 "takes the add over x, where the max is due"   },
      {"f32[8]+x -> f32[8]",        {x, with(y, "max")},              "takes the max over y, over which nothing is " },
  };
  for (const auto& row : table) {
    Planned plan(std::string("on x=2,y=2: reshard ") + row.reshard, {}, row.trace);
    const Verdict verdict = plan.verdict();
    EXPECT_EQ(verdict.status, *row.says ? Status::wrong : Status::pass) << row.reshard << row.says;
    if (*row.says && !verdict.facts.empty()) {
      EXPECT_THAT(verdict.facts[0].text, HasSubstr(row.says)) << row.reshard;
    }
  }
}

// Groups that are no fibres are executed: 0 and 3 hold both parts over x, as do 1 and 2; 0 and 1 hold one.
TEST(Plan, ASumOverGroupsIsExecuted) {
  const auto status = [](const char* reshard, std::vector<std::vector<std::int64_t>> groups) {
    Collective step = sum_over("x", 32);
    step.axes.clear(), step.groups = std::move(groups);
    return Planned(std::string("on x=2,y=2: reshard ") + reshard, {}, {step}).verdict().status;
  };
  const std::vector<std::vector<std::int64_t>> across{
      {0, 3},
      {1, 2}
  },
      along_x{{0, 2}, {1, 3}}, along_y{{0, 1}, {2, 3}}, all{{0, 1, 2, 3}};
  EXPECT_EQ(status("f32[8]+x -> f32[8]", across), Status::pass);
  EXPECT_EQ(status("f32[8]+x -> f32[8]", along_x), Status::pass);
  EXPECT_EQ(status("f32[8]+x -> f32[8]", along_y), Status::wrong);
  EXPECT_EQ(status("f32[8]+x -> f32[8]", all), Status::wrong) << "each part twice";
  EXPECT_EQ(status("f32[8@y]+x -> f32[8@y]", across), Status::wrong) << "other halves of the array";
}

TEST(Plan, OperandsMeetBeforeTheirSum) {
  const ProductPlan by_y{
      {"f32[4,8@y]", "f32[8@y,4]"},
      "f32[4,4]"
  };
  const Collective added = sum_over("y", 64), move{
                                                  .kind = "send", .axes = {"x", "y"},
                                                       .moved = 256
  };
  EXPECT_EQ(Planned(row_times_column, by_y, {move, added}).verdict().status, Status::pass);
  const Verdict late = Planned(row_times_column, by_y, {added, move}).verdict();
  ASSERT_EQ(late.status, Status::wrong);
  EXPECT_THAT(late.facts[0].text, HasSubstr("it moves 0 bytes before its first sum, its operands need 256"));
}

// By a sum, a gather or an exchange of its parts; and what is summed for it is not summed for the product.
TEST(Plan, AnOperandMayBeFinishedBeforeItIsMultiplied) {
  const std::string line = "on x=2,y=2: einsum mk,kn->mn f32[4,4@y]+x f32[4@y,4] -> f32[4,4]";
  const ProductPlan meet{
      {"f32[4,4@y]", "f32[4@y,4]"},
      "f32[4,4]"
  };
  const Collective swap{
      .kind = "collective-permute", .pairs = {{0, 2}, {2, 0}, {1, 3}, {3, 1}},
           .in = 32, .out = 32
  };
  const struct {
    Trace trace;
    const char* says;
  } table[] = {
      {{sum_over("x", 32), sum_over("y", 64)},                    ""                                },
      {{gather_over("x", 32, 64), sum_over("y", 64)},             ""                                },
      {{swap, sum_over("y", 64)},                                 ""                                },
      {{sum_over("y", 64), sum_over("x", 32)},                    "added more than once"            },
      {{sum_over("y", 64)},                                       "before its first sum"            },
      {{sum_over("x", 32)},                                       "added more than once"            },
      {{with(sum_over("x", 32), "max"), sum_over("y", 64)},       "max over x, where the sum is due"},
      {{sum_over("x", 16), sum_over("y", 64)},                    "added more than once"            },
      {{sum_over("x", 32), sum_over("x", 32), sum_over("y", 64)}, "sums twice over one axis"        },
  };
  for (const auto& row : table) {
    const Verdict verdict = Planned(line, meet, row.trace).verdict();
    EXPECT_EQ(verdict.status, *row.says ? Status::wrong : Status::pass) << row.says;
    if (!verdict.facts.empty()) {
      EXPECT_THAT(verdict.facts[0].text, HasSubstr(row.says));
    }
  }
}

// What is unfinished twice over one axis on its way is reduced twice, as each layout says.
TEST(Plan, AChainReducesAsEachOfItsLayoutsSays) {
  const std::string line = "on x=3: reshard f32[4]+max(x) -> f32[4] -> f32[4]+avg(x) -> f32[4]";
  const auto with = [](Collective one, const char* op) {
    one.op = op;
    return one;
  };
  const Collective sum = sum_over("x", 16);
  expect_judged({
      line, {with(sum, "max"), with(sum, "add")},
       ""
  });
  expect_judged({
      line, {with(sum, "max"), with(sum, "min")},
       "min over x, where the max is due"
  });
}

// Sums of either operand over all axes, each a scatter and a gather: more steps than all ways to deal them
// out.
TEST(Plan, BothOperandsMayBeFinishedByManySteps) {
  const std::string line = "on x=2,y=2: einsum mk,kn->mn f32[4,4]+x.y f32[4,4]+y.x -> f32[4,4]";
  const ProductPlan meet{
      {"f32[4,4]", "f32[4,4]"},
      "f32[4,4]"
  };
  Trace trace;
  for (const std::string axis : {"x", "y", "y", "x"}) {
    trace.push_back(sum_over(axis, 64));
    trace.back().kind = "reduce-scatter", trace.back().out = 32;
    trace.push_back(gather_over(axis, 32, 64));
  }
  EXPECT_EQ(Planned(line, meet, trace).verdict().status, Status::pass);
  for (std::size_t i = 1; i < trace.size(); i += 2) {  // a gather alone may bring the parts together
    Trace less = trace;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(Planned(line, meet, less).verdict().status, Status::pass) << i;
  }
  Trace one;
  for (int i = 0; i < 4; ++i) one.push_back(sum_over("x", 64)), one.push_back(sum_over("x", 64));
  const Verdict never = Planned(line, meet, one).verdict();
  ASSERT_EQ(never.status, Status::wrong) << "nothing is summed over y";
}

TEST(Plan, OneWhoseMovesNobodyKnowsIsMistrusted) {
  const Collective unknown{.kind = "send", .axes = {"x"}, .moved = -1};
  const auto status = [&](const char* line) { return Planned(line, {}, {unknown}).verdict().status; };
  EXPECT_EQ(status("on x=2: reshard f32[8@x] -> f32[8]"), Status::mistrusted);
  EXPECT_EQ(status("on x=2: reshard f32[8] -> f32[8@x]"), Status::pass) << "nothing must move";
}

TEST(Plan, WhatNobodyKnowsBesideACollectiveIsMistrusted) {
  const Collective unknown{.kind = "send", .axes = {"x"}, .moved = -1};
  const Collective gather{.kind = "all-gather", .axes = {"x"}, .in = 64, .out = 128};
  for (const Trace& trace : {
           Trace{unknown, gather },
           Trace{gather,  unknown}
  })
    EXPECT_EQ(
        Planned("on x=2: einsum mk,kn->mn f32[8,4@x] f32[4@x,8] -> f32[8,8]", {}, trace).verdict().status,
        Status::mistrusted);
}

TEST(Plan, OneThatRestsOnASendBetweenUnknownDevicesIsMistrusted) {
  const Collective anything{.kind = "send", .moved = 1 << 20};
  const auto status = [&](const char* line) { return Planned(line, {}, {anything}).verdict().status; };
  EXPECT_EQ(status("on x=2: reshard f32[8@x] -> f32[8]"), Status::mistrusted);
  EXPECT_EQ(status("on x=2: reshard f32[8] -> f32[8@x]"), Status::pass) << "nothing must move";
  Collective summed = anything;
  summed.op = "add";
  EXPECT_NE(Planned("on x=2: reshard f32[8]+x -> f32[8]", {}, {summed}).verdict().status, Status::pass);
}

TEST(Plan, OneThatSaysTooLittleIsMistrusted) {
  EXPECT_EQ(Planned(row_times_column, {}, {sum_over("x", 64)}).verdict().status, Status::mistrusted);
  Planned grouped("on x=2: grouped fwd f32[8,4] f32[2,4,4] sizes=3,5 -> f32[8,4]", {}, {});
  EXPECT_EQ(grouped.verdict().status, Status::mistrusted);
}

}  // namespace
}  // namespace plumb
