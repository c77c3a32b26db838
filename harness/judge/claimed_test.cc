// Results whose layout the backend chooses.
#include "harness/judge/claimed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/trial.h"
#include "reference/words/enumerate.h"

namespace plumb {
namespace {

const char* const free_line = "on x=2,y=2: einsum mk,kn->mn f32[4@x,8@y] f32[8@y,4] -> f32[4,4]?";

// The free case with the honest answer of the same case in which the result is asked for as `spec`.
Trial answered(const std::string& spec) {
  std::string line = free_line;
  line.replace(line.rfind("f32"), std::string::npos, spec);
  Trial trial(line);
  trial.c = parse_case(free_line);
  return trial;
}

TEST(FreeResult, EveryFinishedLayoutPasses) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  for (const Spec& spec : all_specs(mesh, DType::f32, {4, 4}, false))
    EXPECT_EQ(answered(print(mesh, spec)).verdict().status, Status::pass) << print(mesh, spec);
}

TEST(FreeResult, TheBlocksMustBeWhereTheClaimSays) {
  Trial trial = answered("f32[4@x,4]");
  trial.outcome.claims = {"f32[4@y,4]"};
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
  // Where the framework says no slices its claim is what the values are compared by.
  Trial silent = answered("f32[4@x,4]");
  for (Block& block : silent.outcome.blocks) block.claim.reset();
  EXPECT_EQ(silent.verdict().status, Status::pass);
  silent.outcome.claims = {"f32[4@y,4]"};
  EXPECT_EQ(silent.verdict().status, Status::wrong);
}

TEST(FreeResult, TheClaimMustBeALayoutOfTheResult) {
  for (const char* claim : {"bf16[4@x,4]", "f32[4@x,2]", "f32[16@x]", "f32[4@x,4]+y"}) {
    Trial trial = answered("f32[4@x,4]");
    trial.outcome.claims = {claim};
    const Verdict verdict = trial.verdict();
    EXPECT_EQ(verdict.status, Status::misplaced) << claim;
    EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("which the free result cannot be")) << claim;
  }
}

TEST(FreeResult, WithoutAClaimItsSlicesAreJudged) {
  Trial trial = answered("f32[4@x,4]");
  trial.outcome.claims = {std::nullopt};
  EXPECT_EQ(trial.verdict().status, Status::pass);

  Trial wrong = trial;
  wrong.element<float>(3, 0) += 1;
  EXPECT_EQ(wrong.verdict().status, Status::wrong);
  EXPECT_THAT(wrong.verdict().facts.back().text, testing::HasSubstr("1 device holds other bits"))
      << "device 2 says the same slice";

  Trial silent = trial;
  silent.outcome.blocks[2].claim.reset();
  EXPECT_EQ(silent.verdict().status, Status::misplaced);

  Trial apart = trial;
  apart.outcome.blocks[1].claim = {
      {{0, 1}, {1, 2}},
      {{0, 2}, {3, 4}}
  };
  EXPECT_EQ(apart.verdict().status, Status::misplaced);

  // Nobody says that it holds the lower half.
  Trial partial = trial;
  for (std::int64_t device : {2, 3}) {
    partial.memory[device] = partial.memory[0];
    partial.outcome.blocks[device].claim = partial.outcome.blocks[0].claim;
  }
  const Verdict verdict = partial.verdict();
  EXPECT_EQ(verdict.status, Status::misplaced);
  EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("no device says that it holds element 8"));
}

TEST(FreeResult, APlanThatClaimsNothingIsMistrusted) {
  Trial trial = answered("f32[4@x,4]");
  trial.outcome.claims = {std::nullopt};
  trial.outcome.blocks.clear();
  trial.declared.data_none = true;
  EXPECT_EQ(trial.verdict().status, Status::mistrusted);
}

}  // namespace
}  // namespace plumb
