// Means, maxima and minima, and programs over a submesh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"

namespace plumb {
namespace {

TEST(Reduced, AnHonestAnswerPasses) {
  for (const char* line : {
           "on x=2,y=3: reshard f32[8]+avg(x)+y -> f32[8@y]",
           "on x=2,y=3: reshard f32[8]+avg(x.y) -> f32[8]+avg(y)",
           "on x=2,y=2: reshard f32[8@x] -> f32[8]+avg(x)+y",
           "on x=2,y=3: reshard bf16[8]+max(x.y) -> bf16[8]+max(x)",
           "on x=2,y=3: reshard s8[8]+min(y) -> s8[8@y]",
           "on z=2,x=2 of x=2,y=2,z=2: reshard f32[8]+x -> f32[8@x.z]",
       })
    EXPECT_EQ(Trial(line).verdict().status, Status::pass) << line;
}

TEST(Reduced, AnotherReductionOfTheResultIsMisplaced) {
  for (const char* claim : {"f32[8]+x", "f32[8]+avg(x)", "f32[8]+min(x)"}) {
    Trial trial("on x=2,y=2: reshard f32[8]+max(x.y) -> f32[8]+max(x)");
    trial.outcome.claims = {claim};
    EXPECT_EQ(trial.verdict().status, Status::misplaced) << claim;
  }
}

// A part of an unfinished maximum that is too large spoils the whole; one that is too small is free.
TEST(Reduced, OnlyTheLargestPartCounts) {
  Trial trial("on x=2: reshard f32[8] -> f32[8]+max(x)");
  trial.element<float>(1, 0) -= 1;
  EXPECT_EQ(trial.verdict().status, Status::pass);
  trial.element<float>(1, 0) += 2;
  EXPECT_EQ(trial.verdict().status, Status::wrong);
}

TEST(Reduced, SlicesOfASubmeshMustAgree) {
  Trial trial("on y=2 of x=2,y=2: reshard f32[8@y] -> f32[8] fill=provenance");
  trial.element<float>(2, 0) *= 2;
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts.back().status, Status::diverged);
}

}  // namespace
}  // namespace plumb
