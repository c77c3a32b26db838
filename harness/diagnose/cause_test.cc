// Sums that were left unfinished, and parts that were reduced in another way: wrong, and said why.
#include "harness/diagnose/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/diagnose/testing/diagnosed.h"

namespace plumb {
namespace {

TEST(Cause, ADroppedAllReduceIsWrongAndNamesTheAxes) {
  // The program of XLA #40034 in small: every device keeps its own part over dp.
  Trial trial("on dp=2,fsdp=2: reshard f32[8]+dp.fsdp -> f32[8@fsdp]");
  for (std::int64_t device = 0; device < 4; ++device) {
    const std::int64_t dp = device / 2, fsdp = device % 2;
    const auto* parts = reinterpret_cast<const float*>(trial.operands[0].bytes.data());
    for (int i = 0; i < 4; ++i)
      trial.element<float>(device, i) =
          parts[(dp * 2 + 0) * 8 + fsdp * 4 + i] + parts[(dp * 2 + 1) * 8 + fsdp * 4 + i];
  }
  const Verdict verdict = diagnosed(trial);
  ASSERT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].place->devices, 4);
  EXPECT_EQ(verdict.facts[0].cause, "the sum over dp is left unfinished");
  EXPECT_EQ(verdict.facts[1].status, Status::diverged);
}

TEST(Cause, ASumLeftUnfinishedIsWrongHoweverWideTheBound) {
  Trial trial("on x=2: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> bf16[4,4]");
  trial.declared.acc_unspecified = trial.declared.wire_unspecified = true;
  for (std::int64_t device = 0; device < 2; ++device) {
    std::vector<Tensor> own = trial.operands;
    for (std::int64_t e = 0; e < 256; ++e)
      if (e % 64 / 32 != device) store(DType::bf16, own[0].bytes.data() + 2 * e, 0);
    trial.memory[device] = evaluate(trial.c, own).bytes;
  }
  const Verdict verdict = diagnosed(trial);
  ASSERT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "the sum over x is left unfinished");
}

// The answer to one case given for another that reduces otherwise: wrong, and said why.
TEST(Cause, TheWrongReductionIsNamed) {
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
    const Verdict verdict = diagnosed(trial);
    EXPECT_EQ(verdict.status, Status::wrong) << row.asked << " " << row.given;
    EXPECT_EQ(verdict.facts[0].cause, row.cause) << row.asked << " " << row.given;
  }
}

TEST(Cause, AMaximumOverOneAxisAloneIsNamed) {
  Trial trial("on x=2,y=2: reshard f32[8]+max(x.y) -> f32[8]");
  for (std::int64_t device = 0; device < 4; ++device)
    for (std::int64_t i = 0; i < 8; ++i) {
      const auto part = [&](std::int64_t p) {
        return static_cast<float>(value(trial.operands[0], p * 8 + i));
      };
      trial.element<float>(device, i) = std::max(part(device % 2), part(2 + device % 2));  // over x
    }
  const Verdict verdict = diagnosed(trial);
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "the max over y is left unfinished");
}

}  // namespace
}  // namespace plumb
