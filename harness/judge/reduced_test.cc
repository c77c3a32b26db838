// Means, maxima and minima, and programs over a submesh.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

// The parts of a mean are judged as they are, whatever they round to.
TEST(Reduced, AMeanOfPartsIsExact) {
  for (const char* axis : {"a=4", "a=3"}) {
    Trial wide(fmt::format("on {}: reshard f64[12] -> f64[12]+avg(a)", axis)),
        narrow(fmt::format("on {}: reshard f32[12] -> f32[12]+avg(a)", axis));
    EXPECT_EQ(wide.verdict().status, Status::pass);
    double& part = wide.element<double>(0, 0);
    part = std::nextafter(part, 1e300);
    narrow.element<float>(0, 0) = std::nextafter(narrow.element<float>(0, 0), 1e30F);
    EXPECT_EQ(wide.verdict().status, Status::wrong) << axis;
    EXPECT_EQ(narrow.verdict().status, Status::wrong) << axis;
  }
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
