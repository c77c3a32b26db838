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

// The answer to one case given for another that reduces otherwise: wrong, and said why.
TEST(Reduced, TheWrongReductionIsNamed) {
  const struct {
    const char *asked, *given, *cause;
  } rows[] = {
      {"avg(x)+y", "x.y",      "the parts are added up"                            },
      {"avg(x)+y", "avg(x.y)", "the parts are divided by the number of all of them"},
      {"x.y",      "avg(x.y)", "the parts are divided by the number of all of them"},
      {"max(x.y)", "min(x.y)", "the smallest part is taken"                        },
      {"max(x.y)", "x.y",      "the parts are added up"                            },
      {"min(x.y)", "max(x.y)", "the largest part is taken"                         },
      {"avg(x.y)", "max(x.y)", "the largest part is taken"                         },
  };
  const auto line = [](const char* parts) {
    return std::string("on x=2,y=2: reshard f32[8]+") + parts + " -> f32[8@x.y]";
  };
  for (const auto& row : rows) {
    Trial trial(line(row.asked));
    Case other = parse_case(line(row.given));
    const Tensor whole = evaluate(other, trial.operands);
    for (std::int64_t device = 0; device < 4; ++device)
      cut(whole.shape, block(other.mesh, result(other), other.rule, device), whole.bytes.data(),
          trial.memory[device].data(), 4);
    const Verdict verdict = trial.verdict();
    EXPECT_EQ(verdict.status, Status::wrong) << row.asked << " " << row.given;
    EXPECT_EQ(verdict.facts[0].cause, row.cause) << row.asked << " " << row.given;
  }
}

TEST(Reduced, AMaximumOverOneAxisAloneIsNamed) {
  Trial trial("on x=2,y=2: reshard f32[8]+max(x.y) -> f32[8]");
  for (std::int64_t device = 0; device < 4; ++device)
    for (std::int64_t i = 0; i < 8; ++i) {
      const auto part = [&](std::int64_t p) {
        return static_cast<float>(value(trial.operands[0], p * 8 + i));
      };
      trial.element<float>(device, i) = std::max(part(device % 2), part(2 + device % 2));  // over x
    }
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "the max over y is left unfinished");
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
