#include "harness/judge/bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/trial.h"

namespace plumb {
namespace {

const char* const rounding =
    "on x=4: einsum mk,kn->mn bf16[32,256@x] bf16[256@x,32] -> bf16[32,32] fill=normal";

// What the devices would hold had each rounded its own sum to bf16 and the sums been added in bf16 in
// order of the devices; `parts` says how often each device's sum is counted.
void reduce_in_bf16(Trial& trial, const std::vector<int>& parts) {
  const Tensor &a = trial.operands[0], &b = trial.operands[1];
  for (std::int64_t i = 0; i < 32; ++i)
    for (std::int64_t j = 0; j < 32; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < 4; ++p) {
        float own = 0;
        for (std::int64_t k = 64 * p; k < 64 * p + 64; ++k)
          own += static_cast<float>(value(a, i * 256 + k)) * static_cast<float>(value(b, k * 32 + j));
        for (int n = 0; n < parts[p]; ++n)
          sum = decode(DType::bf16, encode(DType::bf16, sum + decode(DType::bf16, encode(DType::bf16, own))));
      }
      for (std::int64_t device = 0; device < 4; ++device)
        store(DType::bf16, trial.memory[device].data() + 2 * (i * 32 + j), encode(DType::bf16, sum));
    }
}

TEST(Bound, DataThatRoundMayDifferByTheirRoundings) {
  Trial trial(rounding);
  reduce_in_bf16(trial, {1, 1, 1, 1});
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::pass) << verdict.facts.front().text;
  bool differs = false;
  for (std::int64_t i = 0; i < 1024; ++i)
    differs |= load(DType::bf16, trial.memory[0].data() + 2 * i) != bits(trial.whole, i);
  EXPECT_TRUE(differs) << "else nothing was tested";
}

TEST(Bound, ADeviceLeftOutOrCountedTwiceIsWrong) {
  for (const std::vector<int>& parts : {
           std::vector<int>{1, 0, 1, 1},
           {1, 1, 2, 1}
  }) {
    Trial trial(rounding);
    reduce_in_bf16(trial, parts);
    const Verdict verdict = trial.verdict();
    ASSERT_EQ(verdict.status, Status::wrong);
    EXPECT_THAT(verdict.facts[0].bound, testing::HasSubstr("local")) << "the terms are printed";
  }
}

TEST(Bound, AnElementFarOutsideIsWrongEvenWhereOthersRound) {
  Trial trial(rounding);
  reduce_in_bf16(trial, {1, 1, 1, 1});
  for (auto& memory : trial.memory) store(DType::bf16, memory.data() + 2 * 77, encode(DType::bf16, 1e30));
  const Verdict verdict = trial.verdict();
  ASSERT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].place->index, (std::vector<std::int64_t>{2, 13}));
  EXPECT_EQ(verdict.facts[0].place->elements, 4);
}

TEST(Bound, ReplicasThatRoundDifferentlyDiverge) {
  Trial trial(rounding);
  reduce_in_bf16(trial, {1, 1, 1, 1});
  trial.memory[3][0] ^= std::byte{1};
  EXPECT_EQ(trial.verdict().status, Status::diverged);
}

TEST(Bound, ABackendThatPromisesNoTypesIsJudgedByTheBoundOnlyWhereTheResultIsNarrower) {
  Trial narrow("on x=2: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> bf16[4,4]");
  Trial wide("on x=2: einsum mk,kn->mn f32[4,64@x] f32[64@x,4] -> f32[4,4]");
  for (Trial* trial : {&narrow, &wide}) {
    ASSERT_NE(trial->proof.scope, Certificate::Scope::none);
    for (auto& memory : trial->memory) memory[0] ^= std::byte{1};
    EXPECT_EQ(trial->verdict().status, Status::wrong) << "one bit of one element, exact data";
    trial->declared.acc_unspecified = trial->declared.wire_unspecified = true;
  }
  EXPECT_EQ(narrow.verdict().status, Status::pass) << "it may have accumulated in bf16";
  EXPECT_EQ(wide.verdict().status, Status::wrong) << "no narrower type than f32 can be meant";
}

TEST(Bound, ASumLeftUnfinishedIsWrongHoweverWideTheBound) {
  Trial trial("on x=2: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> bf16[4,4]");
  trial.declared.acc_unspecified = trial.declared.wire_unspecified = true;
  for (std::int64_t device = 0; device < 2; ++device) {
    std::vector<Tensor> own = trial.operands;
    for (std::int64_t e = 0; e < 256; ++e)
      if (e % 64 / 32 != device) store(DType::bf16, own[0].bytes.data() + 2 * e, 0);
    trial.memory[device] = evaluate(trial.c, own).bytes;
  }
  const Verdict verdict = trial.verdict();
  ASSERT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "the sum over x is left unfinished");
}

TEST(Bound, ATraceThatShowsAnotherSplitTakesTheCertificateAway) {
  Trial trial("on x=2,y=2: einsum mk,kn->mn bf16[8,512@x] bf16[512@x,8] -> bf16[8,8]");
  ASSERT_EQ(trial.proof.scope, Certificate::Scope::this_split);
  const auto bound = [&](const char* kind, const char* axis) {
    Outcome outcome;
    outcome.trace.push_back({.kind = kind, .axes = {axis}});
    return bound_of({trial.c, trial.operands, trial.whole, trial.proof, {}}, outcome, {}).has_value();
  };
  EXPECT_FALSE(bound("all-reduce", "x"));
  EXPECT_FALSE(bound("all-gather", "y"));
  EXPECT_TRUE(bound("all-reduce", "y"));
  EXPECT_TRUE(bound("all-to-all", "x"));
}

}  // namespace
}  // namespace plumb
