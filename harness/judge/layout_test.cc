// Claims against what was asked.
#include "harness/judge/layout.h"

#include <gtest/gtest.h>

#include "harness/judge/trial.h"

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

}  // namespace
}  // namespace plumb
