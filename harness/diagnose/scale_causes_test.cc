// Products of operands that were scaled otherwise: wrong, and said why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness/diagnose/testing/diagnosed.h"
#include "harness/judge/results.h"
#include "reference/meaning/quantize.h"

namespace plumb {
namespace {

// Rows [begin, end) of a matrix, quantized on their own.
struct Part {
  Tiles tiles;
  Quantized q;
};

Part part(const Tensor& x, std::int64_t begin, std::int64_t end) {
  const std::int64_t row = x.shape[1] * format(x.dtype).bytes;
  Tensor rows = zeros(x.dtype, {end - begin, x.shape[1]});
  std::memcpy(rows.bytes.data(), x.bytes.data() + begin * row, rows.bytes.size());
  const Tiles one{
      {std::vector<std::int64_t>(end - begin, 0), std::vector<std::int64_t>(x.shape[1], 0)},
      {1,                                   1                                    }
  };
  return {one, quantized(rows, Scheme::fp8, one)};
}

// The whole matrix from its parts, all decoded with the scale of part `own`; with its own each where that is
// -1.
Tensor decoded(std::vector<Part> parts, int own) {
  Tensor x = zeros(DType::f64, {0, parts[0].q.codes.shape[1]});
  const Tensor scale = parts[std::max(own, 0)].q.scales;
  for (Part& p : parts) {
    if (own >= 0) p.q.scales = scale;
    const Tensor values = dequantized(p.q, p.tiles);
    x.shape[0] += values.shape[0];
    x.bytes.insert(x.bytes.end(), values.bytes.begin(), values.bytes.end());
  }
  return x;
}

// The answer of devices of which device d takes operand n, the left one, for taken(it, d).
template <class Taken>
Verdict judged(const std::string& line, Taken&& taken, std::size_t n = 0) {
  Trial trial(line);
  Case c = trial.c;
  Plain p = plain(c, trial.operands);
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    p.operands[n] = taken(trial.operands[n], device);
    const Tensor whole = evaluate(p.c, p.operands);
    cut(whole.shape, block(c.mesh, result(c), c.rule, device), whole.bytes.data(),
        trial.memory[device].data(), 4);
  }
  return diagnosed(trial);
}

const char* const kLine = "on x=2,y=2: einsum mk,kn->mn bf16[8@x,64]~fp8 bf16[64,8@y]~fp8 -> f32[8,8@y]";

TEST(ScaleCauses, AnHonestAnswerPasses) {
  const Trial trial(kLine);
  EXPECT_EQ(judge(WantedAll{trial.c, trial.operands, {trial.whole}, trial.proof}, trial.outcome,
                  std::bind_front(&Trial::read, &trial), trial.declared)
                .status,
            Status::pass);
}

TEST(ScaleCauses, PartsWithScalesOfTheirOwnAreNamed) {
  const Verdict verdict = judged(kLine, [](const Tensor& x, std::int64_t) {
    return decoded({part(x, 0, 4), part(x, 4, 8)}, -1);
  });
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "the left operand has a scale for each part over x");
}

TEST(ScaleCauses, OfTheRightOperandToo) {
  const Verdict verdict = judged(
      "on x=2: einsum mk,kn->mn bf16[8,64]~fp8 bf16[64@x,8]~fp8 -> f32[8,8]",
      [](const Tensor& x, std::int64_t) {
        return decoded({part(x, 0, 32), part(x, 32, 64)}, -1);
      },
      1);
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "the right operand has a scale for each part over x");
}

TEST(ScaleCauses, OfTwoAxesTheOneIsNamedAndNotBoth) {
  for (const std::string left : {"bf16[8@x.y,64]", "bf16[8@x,64@y]", "bf16[8@x,64]"}) {
    const Verdict verdict = judged("on x=2,y=2: einsum mk,kn->mn " + left + "~fp8 bf16[64,8]~fp8 -> f32[8,8]",
                                   [](const Tensor& x, std::int64_t) {
                                     return decoded({part(x, 0, 4), part(x, 4, 8)}, -1);
                                   });
    EXPECT_EQ(verdict.facts[0].cause, "the left operand has a scale for each part over x") << left;
  }
}

TEST(ScaleCauses, ScalesThatAreMixedUpAreNamed) {
  const Verdict verdict = judged(kLine, [](const Tensor& x, std::int64_t device) {
    return decoded({part(x, 0, 4), part(x, 4, 8)}, static_cast<int>(device / 2));
  });
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause,
            "the left operand has a scale for each part over x, and a device takes its own for all");
}

// The cause is of what is wrong, the first fact, not of replicas that differ for it.
TEST(ScaleCauses, TheCauseStandsWithTheFirstFact) {
  const Verdict verdict = judged("on x=2: einsum mk,kn->mn bf16[8@x,64]~fp8 bf16[64,8]~fp8 -> f32[8,8]",
                                 [](const Tensor& x, std::int64_t device) {
                                   return decoded({part(x, 0, 4), part(x, 4, 8)}, static_cast<int>(device));
                                 });
  ASSERT_EQ(verdict.facts.size(), 2U);
  EXPECT_EQ(verdict.facts[0].status, Status::wrong);
  EXPECT_NE(verdict.facts[0].cause, "");
  EXPECT_EQ(verdict.facts[1].status, Status::diverged);
  EXPECT_EQ(verdict.facts[1].cause, "");
}

TEST(ScaleCauses, OneDeviceThatIsNotSoLeavesTheRestUnexplained) {
  const Verdict verdict = judged(kLine, [](const Tensor& x, std::int64_t device) {
    if (device == 0) return decoded({part(x, 4, 8), part(x, 0, 4)}, 0);
    return decoded({part(x, 0, 4), part(x, 4, 8)}, static_cast<int>(device / 2));
  });
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "");
}

TEST(ScaleCauses, AnotherFaultIsNotExplainedSo) {
  const Verdict verdict = judged(kLine, [](const Tensor& x, std::int64_t) {
    Tensor y = decoded({part(x, 0, 8)}, -1);
    std::memset(y.bytes.data(), 0, y.bytes.size() / 2);
    return y;
  });
  EXPECT_EQ(verdict.status, Status::wrong);
  EXPECT_EQ(verdict.facts[0].cause, "");
}

}  // namespace
}  // namespace plumb
