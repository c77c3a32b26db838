// Claims against what was asked.
#include "harness/judge/layout.h"

#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"

namespace plumb {
namespace {

TEST(Layout, UnfinishedAxesInAnotherOrderAreNoDifference) {
  Trial sum("on x=2,y=2: reshard f32[8]+x.y -> f32[8]+x.y");
  sum.outcome.claims = {"f32[8]+y.x"};
  EXPECT_EQ(sum.verdict().status, Status::pass);
  sum.outcome.claims = {"f32[8]+x"};
  EXPECT_EQ(sum.verdict().status, Status::misplaced);
  Trial mean("on x=2,y=2: reshard f32[8]+avg(x.y) -> f32[8]+avg(x.y)");
  mean.outcome.claims = {"f32[8]+avg(y.x)"};
  EXPECT_EQ(mean.verdict().status, Status::pass);
  for (const char* claim : {"f32[8]+x.y", "f32[8]+avg(x)+y", "f32[8]+max(x.y)"}) {
    mean.outcome.claims = {claim};
    EXPECT_EQ(mean.verdict().status, Status::misplaced) << claim;
  }
}

TEST(Layout, RangesThatLieApartAreToldEach) {
  Trial trial("on x=2: reshard f32[4,8] -> f32[4,8@x]");
  trial.outcome.claims = {std::nullopt};
  trial.outcome.blocks[1].claim = {
      {{0, 4} },
      { {0, 2}, {6, 8}}
  };
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::misplaced);
  EXPECT_EQ(verdict.facts[0].text,
            "1 of 2 devices; the first, 1 (x=1), says it holds [0:4,0:2&6:8] instead of [0:4,4:8]");
}

}  // namespace
}  // namespace plumb
