// A verdict with its cause: what passed by a bound, or could not be told from a wrong result.
#include "harness/diagnose/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/diagnose/testing/diagnosed.h"

namespace plumb {
namespace {

// On x=2: each device adds up its own half of the contracted k, and holds its rows of that. The backend
// promises no types, so that the bound is wide.
void leave_unfinished(Trial& trial) {
  trial.declared.acc_unspecified = trial.declared.wire_unspecified = true;
  const std::int64_t k = trial.c.op.operands[0].dims[1].size;
  for (std::int64_t device = 0; device < 2; ++device) {
    std::vector<Tensor> own = trial.operands;
    for (std::int64_t e = 0; e < elements(own[0].shape); ++e)
      if (e % k / (k / 2) != device) store(DType::bf16, own[0].bytes.data() + 2 * e, 0);
    const Tensor sums = evaluate(trial.c, own);
    cut(sums.shape, block(trial.c.mesh, result(trial.c), trial.c.rule, device), sums.bytes.data(),
        trial.memory[device].data(), 2);
  }
}

TEST(Diagnose, ACauseAnswersTheDoubtOfTheJudge) {
  for (const auto& [line, differ] : {
           std::pair{"bf16[4,64@x] bf16[64@x,4] -> bf16[4@x,4]", "16 elements differ"},
           {"bf16[1,64@x] bf16[64@x,1] -> bf16[1@x,1]", "1 element differs" }
  }) {
    Trial trial(std::string("on x=2: einsum mk,kn->mn ") + line);
    leave_unfinished(trial);
    const Verdict judged = trial.verdict(), said = diagnosed(trial);
    ASSERT_EQ(judged.status, Status::mistrusted) << line;
    EXPECT_THAT(judged.facts.front().text, testing::HasSubstr("it cannot be told whether this is wrong"));
    ASSERT_EQ(said.status, Status::wrong) << line;
    ASSERT_EQ(said.facts.size(), 1u) << line;
    EXPECT_EQ(said.facts[0].text, differ);
    EXPECT_EQ(said.facts[0].cause, "the sum over x is left unfinished") << line;
  }
}

// Two elements that lack little each, in data that round: so may right ones.
TEST(Diagnose, WhatMayBeChanceIsNoCause) {
  Trial trial("on x=2: einsum mk,kn->mn bf16[2,2@x] bf16[2@x,1] -> bf16[2@x,1] fill=normal");
  const double little = 1.5 / 256, values[] = {2, 2 * little, little, 1};
  for (int i = 0; i < 4; ++i)
    store(DType::bf16, trial.operands[0].bytes.data() + 2 * i, encode(DType::bf16, values[i]));
  for (int i = 0; i < 2; ++i)
    store(DType::bf16, trial.operands[1].bytes.data() + 2 * i, encode(DType::bf16, 1));
  trial.whole = evaluate(trial.c, trial.operands);
  leave_unfinished(trial);
  const Verdict said = diagnosed(trial);
  EXPECT_EQ(said.status, Status::pass);
  EXPECT_EQ(said.rounded, 2);
}

}  // namespace
}  // namespace plumb
