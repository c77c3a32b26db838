// A plan takes what it moves to where it is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/planned.h"

namespace plumb {
namespace {

using testing::HasSubstr;

// Enough bytes, or more, that do not go where they are needed.
TEST(Plan, AReshardTakesWhatItMovesToWhereItIsNeeded) {
  const Collective swap{
      .kind = "collective-permute", .pairs = {{0, 1}, {1, 0}},
           .in = 100000, .out = 100000
  };
  const auto sum = [](std::int64_t bytes) { return sum_over("x", bytes); };
  const auto scatter = [](std::int64_t in, std::int64_t out) {
    Collective step = sum_over("x", in);
    step.kind = "reduce-scatter", step.out = out;
    return step;
  };
  const PlannedReshard table[] = {
      {"f32[8@x] -> f32[8]",
       {gather_over("y", 16, 4096)},
       "needs element [4] of device 2 (x=1,y=0), and no collective takes it there across x"                                   },
      {"f32[8@x] -> f32[8]",   {swap},                                      "device 0 (x=0,y=0) needs element [4] of device 2"},
      {"f32[8@x] -> f32[8]",
       {gather_over("x", 4, 4096)},
       "one all-gather over 2 devices cannot make 4096 bytes of 4"                                                            },
      {"f32[8@y]+x -> f32[8]", {sum(16), gather_over("y", 16, 32)},         ""                                                },
      {"f32[8@y]+x -> f32[8]", {gather_over("y", 16, 32), sum(32)},         ""                                                },
      {"f32[8@y]+x -> f32[8]", {sum(0), gather_over("y", 16, 4096)},        "needs element [0] of device 2"                   },
      {"f32[8@y]+x -> f32[8]",
       {gather_over("y", 16, 32), sum(16)},
       "its all-reduce over x makes at most 4 of the 8 elements that device 0 holds"                                          },
      {"f32[8]+x -> f32[8]",   {sum(16), gather_over("y", 16, 32)},         ""                                                }, // each of y sums another half
      {"f32[8]+x -> f32[8]",   {sum(16), gather_over("x", 16, 32)},         "makes at most 4 of the 8"                        },
      {"f32[8]+x -> f32[8]",   {scatter(32, 16), gather_over("x", 16, 32)}, ""                                                },
      {"f32[8]+x -> f32[8@x]", {scatter(32, 16)},                           ""                                                },
      {"f32[8]+x -> f32[8@x]", {scatter(16, 8), gather_over("y", 8, 16)}, ""                                                },
      {"f32[8]+x -> f32[8@x]", {scatter(16, 8), gather_over("y", 64, 128)}, "more than the array has"                       },
      {"f32[8]+x -> f32[8@x]",
       {scatter(16, 8), gather_over("x", 64, 128)},
       "its reduce-scatter gives the group of device 0 at most 4 of the 8 elements that are due"                              },
      {"f32[8]+x -> f32[8@x]",
       {gather_over("y", 64, 128), scatter(16, 8)},
       "its reduce-scatter over x makes at most 2 of the 4 elements"                                                          },
  };
  for (PlannedReshard row : table) {
    row.line = "on x=2,y=2: reshard " + row.line;
    expect_judged(row);
  }
}

// What has no elements has no sum, and the sum of no terms is zero wherever it is made.
TEST(Plan, OfNothingNothingIsMoved) {
  expect_judged({"on x=2: reshard f32[0]+x -> f32[0]", {}, ""});
  expect_judged({"on x=2: reshard f32[2]+x -> f32[2]", {}, "it takes no sum over x"});
  const struct {
    const char* line;
    ProductPlan plan;
  } table[] = {
      {"on z=1: einsum k,kn->n f32[0] f32[0,3] -> f32[3]",           {{"f32[0]", "f32[0,3]"}, "f32[3]"}},
      {"on x=2: einsum mk,kn->mn f32[4,0] f32[0,4@x] -> f32[4,4@x]",
       {{"f32[4,0]", "f32[0,4@x]"}, "f32[4,4@x]"}                                                      },
  };
  for (const auto& row : table)
    EXPECT_EQ(Planned(row.line, row.plan, {}).verdict().status, Status::pass) << row.line;
}

TEST(Plan, TheOperandsOfAProductMeetWhereTheyAreSaidTo) {
  const std::string line = "on x=2,y=2: einsum mk,kn->mn f32[8@x,4] f32[4,8] -> f32[8,8]";
  const ProductPlan whole{
      {"f32[8,4]", "f32[4,8]"},
      "f32[8,8]"
  },
      split{{"f32[8@x,4]", "f32[4,8]"}, "f32[8@x,8]"};
  EXPECT_EQ(Planned(line, whole, {gather_over("x", 64, 128)}).verdict().status, Status::pass);
  EXPECT_EQ(Planned(line, split, {gather_over("x", 128, 256)}).verdict().status, Status::pass);
  const Verdict verdict = Planned(line, whole, {gather_over("y", 16, 4096)}).verdict();
  ASSERT_EQ(verdict.status, Status::wrong);
  EXPECT_THAT(verdict.facts[0].text, HasSubstr("needs element [4,0] of device 2"));
  EXPECT_THAT(verdict.facts[0].text, HasSubstr("of operand 0, before it is multiplied"));
  EXPECT_EQ(Planned(line, split, {gather_over("y", 16, 4096)}).verdict().status, Status::wrong);
  const ProductPlan summed{
      {"f32[4,8@x]", "f32[8@x,4]"},
      "f32[4,4]"
  };
  const Verdict little =
      Planned(row_times_column, summed, {sum_over("x", 16), gather_over("y", 1000, 2000)}).verdict();
  ASSERT_EQ(little.status, Status::wrong);
  EXPECT_THAT(little.facts[0].text, HasSubstr("its all-reduce over x makes at most 8 of the 16 elements"));
}

}  // namespace
}  // namespace plumb
