#include "harness/judge/in_common.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/judge/testing/trial.h"
#include "reference/meaning/meaning.h"

namespace plumb {
namespace {

// Parts added one after the other, each sum rounded to their dtype, but for one that is left out.
Tensor added_in_turn(const Tensor& parts, std::int64_t left_out) {
  Tensor sum = zeros(parts.dtype, {parts.shape.begin() + 1, parts.shape.end()});
  const std::int64_t count = elements(sum.shape), size = format(sum.dtype).bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    double all = 0;
    for (std::int64_t p = 0; p < parts.shape[0]; ++p)
      if (p != left_out) all = decode(sum.dtype, encode(sum.dtype, all + value(parts, p * count + i)));
    store(sum.dtype, sum.bytes.data() + i * size, encode(sum.dtype, all));
  }
  return sum;
}

// Every device holds the product of operands that were finished first.
void finish_first(Trial& trial, std::int64_t left_out = -1) {
  Case c = trial.c;
  std::vector<Tensor> operands = trial.operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (c.op.operands[i].unfinished.empty()) continue;
    c.op.operands[i] = finished(c.op.operands[i]);
    operands[i] = added_in_turn(operands[i], left_out);
  }
  for (auto& memory : trial.memory) memory = evaluate(c, operands).bytes;
}

const char* const unfinished_operands[] = {
    "on x=32: einsum mk,kn->mn bf16[64,64]+x bf16[64,64] -> bf16[64,64]",
    "on x=32: einsum mk,kn->mn bf16[64,64] bf16[64,64]+x -> f32[64,64]",
    "on x=4: einsum mk,kn->mn f16[8,16]+x f16[16,64] -> f16[8,64]",
    "on x=4,y=4: einsum mk,kn->mn bf16[32,32]+x bf16[32,32]+y -> f32[32,32]",
    "on x=8: einsum bmk,bkn->bmn bf16[4,8,16]+x bf16[4,16,8] -> bf16[4,8,8]",
    "on x=8: einsum m,mk->k bf16[16]+x bf16[16,64] -> bf16[64]",
    "on x=4: grouped fwd bf16[32,16] bf16[3,16,24]+x sizes=20,0,12 -> bf16[32,24]",
    "on x=4: grouped wgrad bf16[32,16]+x bf16[32,24] sizes=20,12 -> f32[2,16,24]",
};

TEST(InCommon, OperandsThatAreFinishedFirstPassEverySeed) {
  for (const std::string line : unfinished_operands)
    for (int seed = 0; seed < 20; ++seed) {
      Trial trial(line + " fill=normal seed=" + std::to_string(seed));
      finish_first(trial);
      const Verdict verdict = trial.verdict();
      EXPECT_EQ(verdict.status, Status::pass) << line << " " << seed << verdict.facts.front().text;
      EXPECT_GT(verdict.rounded, 0) << "else nothing was tested";
    }
}

// Every device holds the product of operands that were rounded to the accumulator first; of the last k terms
// only the share `of`.
void round_first(Trial& trial, double of = 1) {
  Plain p = plain(trial.c, trial.operands);
  trial.c = std::move(p.c), trial.operands = std::move(p.operands);
  std::vector<Tensor> operands = trial.operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tensor& exact = trial.operands[i];
    for (std::int64_t at = 0; at < elements(exact.shape); ++at) {
      const bool spoiled = i == 0 && 2 * (at % exact.shape.back()) >= exact.shape.back();
      const double x = decode(trial.c.acc, encode(trial.c.acc, value(exact, at))) * (spoiled ? of : 1);
      store(exact.dtype, operands[i].bytes.data() + at * format(exact.dtype).bytes, encode(exact.dtype, x));
    }
  }
  for (auto& memory : trial.memory) memory = evaluate(trial.c, operands).bytes;
}

TEST(InCommon, OperandsThatAreRoundedFirstPassEverySeed) {
  for (const std::string line : {
           "on x=2: einsum mk,kn->mn f32[1,1@x] f32[1@x,257] -> f32[1,257] acc=bf16",
           "on x=2: einsum bm,bn->mn f32[1@x,7] f32[1@x,300] -> f32[7,300] acc=f16",
           "on x=2: einsum mk,kn->mn f32[1,8@x] f32[8@x,512] -> bf16[1,512] acc=bf16",
           "on x=2: einsum mk,kn->mn f32[512,2@x] f32[2@x,1] -> f32[512,1] acc=bf16",
           "on x=2: einsum mk,kn->mn f32[64,16@x] f32[16@x,64] -> f32[64,64] acc=bf16",
           "on x=2: einsum mk,kn->mn f64[1,2@x] f64[2@x,300] -> f64[1,300] acc=f32",
           "on x=2: einsum mk,kn->mn bf16[1,1@x]~fp8 bf16[1@x,257]~fp8 -> f32[1,257]",
           "on x=2: einsum mk,kn->mn bf16[3,2@x]~fp8 bf16[2@x,257]~fp8 -> f64[3,257]",
           "on x=4: grouped fwd f32[1@x,1] f32[2,1,300] sizes=0,1 -> f32[1@x,300] acc=bf16",
       })
    for (int seed = 0; seed < 60; ++seed) {
      const bool quantized = line.find('~') != line.npos;
      Trial trial(line + (quantized ? " fill=scaled" : " fill=normal") + " seed=" + std::to_string(seed));
      round_first(trial);
      const Verdict verdict = trial.verdict();
      EXPECT_EQ(verdict.status, Status::pass)
          << line << " " << seed << (verdict.facts.empty() ? "" : verdict.facts.front().text);
    }
}

// What an error has in common weighs no more than it is: of many terms it is little, and half of a rank's
// bits are seen.
TEST(InCommon, AShareThatIsALittleShortDoesNotPass) {
  for (const std::string line : {
           "on x=2: einsum mk,kn->mn f32[64,64@x] f32[64@x,64] -> f32[64,64] acc=bf16",
           "on x=2: einsum mk,kn->mn bf16[64,64@x]~fp8 bf16[64@x,64]~fp8 -> f32[64,64]",
           "on x=2: einsum mk,kn->mn bf16[64,64@x]~mxfp8 bf16[64@x,64]~mxfp8 -> f32[64,64]",
       })
    for (int seed = 0; seed < 5; ++seed) {
      const bool quantized = line.find('~') != line.npos;
      Trial trial(line + (quantized ? " fill=scaled" : " fill=normal") + " seed=" + std::to_string(seed));
      round_first(trial, 1 - std::ldexp(1, -format(trial.c.acc).digits / 2));
      EXPECT_EQ(trial.verdict().status, Status::wrong) << line << " " << seed;
    }
}

TEST(InCommon, ZerosAndHalvesAndAPartLeftOutDoNotPass) {
  for (const std::string line : unfinished_operands) {
    const auto wrong = [&](auto lie) {
      Trial trial(line + " fill=normal");
      lie(trial);
      return trial.verdict().status == Status::wrong;
    };
    EXPECT_TRUE(wrong([](Trial& t) {
      for (auto& memory : t.memory) std::ranges::fill(memory, std::byte{0});
    })) << line;
    EXPECT_TRUE(wrong([](Trial& t) {
      const DType dtype = t.whole.dtype;
      for (auto& memory : t.memory)
        for (std::int64_t i = 0; i < elements(t.whole.shape); ++i)
          store(dtype, memory.data() + i * format(dtype).bytes, encode(dtype, value(t.whole, i) / 2));
    })) << line;
    EXPECT_TRUE(wrong([](Trial& t) { finish_first(t, 1); })) << line;
  }
}

// The rows of a product whose left operand is unfinished, the columns where the right one is.
TEST(InCommon, ClassesAreWhatAnOperandsElementReaches) {
  using testing::ElementsAre;
  const auto of = [](const char* line) {
    std::vector<std::pair<std::vector<std::int64_t>, std::int64_t>> all;
    const Trial t(line);
    for (const InCommon& one : errors_in_common({t.c, t.operands, t.whole, t.proof}, reduction(t.c)))
      all.emplace_back(one.classes, one.errors);
    return all;
  };
  const auto rows = testing::Pair(ElementsAre(0, 0, 1, 1), 4);
  const auto columns = testing::Pair(ElementsAre(0, 1, 0, 1), 4);
  EXPECT_THAT(of("on x=2: einsum mk,kn->mn f32[2,4]+x f32[4,2] -> f32[2,2]"), ElementsAre(rows));
  EXPECT_THAT(of("on x=2: einsum mk,kn->mn f32[2,4]+x f32[4,2]+x -> f32[2,2]"), ElementsAre(rows, columns));
  EXPECT_THAT(of("on x=2: einsum mk,kn->mn f32[2,4@x] f32[4@x,2] -> f32[2,2]"), ElementsAre());
  EXPECT_THAT(of("on x=2: einsum mk,kn->mn f32[2,4@x] bf16[4@x,2] -> f32[2,2] acc=bf16 fill=normal"),
              ElementsAre(rows));
  EXPECT_THAT(of("on x=2: reshard f32[4]+x -> f32[4]"), ElementsAre());
}

}  // namespace
}  // namespace plumb
