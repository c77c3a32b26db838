#include "harness/judge/vacuity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/proved.h"
#include "harness/judge/testing/trial.h"

namespace plumb {
namespace {

// What a lie makes of the exact value c of which the last rank added `last`.
double all_zeros(double, double) { return 0; }
double all_halves(double c, double) { return c / 2; }
double without_the_last(double c, double last) { return c - last; }
using Lie = double (*)(double, double);

// Every device holds the lie.
void tell(Trial& trial, Lie lie) {
  const Case& c = trial.c;
  const Tensor &a = trial.operands[0], &b = trial.operands[1];
  const std::int64_t depth = a.shape[1], columns = b.shape[1], ranks = c.mesh.axes[0].size;
  for (std::int64_t e = 0; e < elements(trial.whole.shape); ++e) {
    double whole = 0, last = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      const double term = value(a, e / columns * depth + k) * value(b, k * columns + e % columns);
      whole += term;
      if (k >= depth / ranks * (ranks - 1)) last += term;
    }
    const DType dtype = trial.whole.dtype;
    for (auto& memory : trial.memory)
      store(dtype, memory.data() + format(dtype).bytes * e, encode(dtype, lie(whole, last)));
  }
}

Status told(const char* line, Lie lie) {
  Trial trial(line);
  trial.declared.acc_unspecified = trial.declared.wire_unspecified = true;
  tell(trial, lie);
  return trial.verdict().status;
}

TEST(Vacuity, ALieThatTheChecksCannotSeeIsNotTrusted) {
  for (const char* line : {
           "on x=4: einsum mk,kn->mn bf16[8,1024@x] bf16[1024@x,8] -> bf16[8,8] fill=normal",
           "on x=4: einsum mk,kn->mn bf16[8,4096@x] bf16[4096@x,8] -> bf16[8,8] fill=normal",
           "on x=4: einsum mk,kn->mn f16[8,4096@x] f16[4096@x,8] -> f16[8,8] fill=normal",
           "on x=2: einsum mk,kn->mn bf16[4,512@x] bf16[512@x,4] -> bf16[4,4] fill=normal",
       })
    for (Lie lie : {all_zeros, all_halves, without_the_last})
      EXPECT_EQ(told(line, lie), Status::mistrusted) << line;
}

// A chain that leaves room for one magnitude: floats differ by powers of two, integers by their sign, or are
// 0.
TEST(Vacuity, ElementsOfOneMagnitudeAreNotAlike) {
  for (const char* line : {"on x=5: reshard f64[16]+max(x) -> f64[16] -> f64[16]+min(x) wire=f8e5m2",
                           "on x=6: reshard f8e5m2[16]+max(x) -> f8e5m2[16] -> f8e5m2[16]+x",
                           "on x=81: reshard s8[16]+max(x) -> s8[16] -> s8[16]+x",
                           "on x=127: reshard s8[16]+min(x) -> s8[16] -> s8[16]+x"})
    EXPECT_EQ(Trial(line).verdict().status, Status::pass) << line;
}

TEST(Vacuity, ElementsThatAreAllAlikeShowNoMisplacedOne) {
  Trial alike("on x=2: reshard f32[4@x] -> f32[4]");
  alike.whole.bytes.assign(16, std::byte{1});
  for (std::vector<std::byte>& block : alike.memory) block = alike.whole.bytes;
  const Verdict verdict = alike.verdict();
  ASSERT_EQ(verdict.status, Status::mistrusted);
  EXPECT_THAT(verdict.facts.front().text, testing::HasSubstr("misplaced ones would pass"));
}

TEST(Vacuity, WithEnoughElementsTheSameLiesAreWrong) {
  const char* const line =
      "on x=4: einsum mk,kn->mn bf16[32,256@x] bf16[256@x,32] -> bf16[32,32] fill=normal";
  for (Lie lie : {all_zeros, all_halves, without_the_last}) EXPECT_EQ(told(line, lie), Status::wrong);
  EXPECT_EQ(told(line, [](double c, double) { return c; }), Status::pass);
}

// Every device holds the sums of an [m,k] [k,n] product in f32, k ascending.
void add_in_f32(Trial& trial) {
  const Tensor &a = trial.operands[0], &b = trial.operands[1];
  const std::int64_t depth = a.shape[1], columns = b.shape[1];
  for (std::int64_t e = 0; e < elements(trial.whole.shape); ++e) {
    float sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += static_cast<float>(value(a, e / columns * depth + k)) *
             static_cast<float>(value(b, k * columns + e % columns));
    for (auto& memory : trial.memory)
      store(trial.whole.dtype, memory.data() + 4 * e, encode(trial.whole.dtype, sum));
  }
}

// A device that adds nothing, for its piece is empty or meets no piece of the other operand.
TEST(Vacuity, AnEmptyShareIsNotMissed) {
  for (const char* operands : {"f32[8,4@x] f32[4@x,8]", "f32[8,4@x] f32[4@y,8]", "f32[8,4] f32[4@y.x,8]",
                               "f32[8@x,4@y] f32[4@x,8]", "f32[8,4@x.y] f32[4@x.y,8]"})
    for (const char* mesh : {"x=3,y=2", "x=2,y=2", "x=2,y=3"}) {
      Trial trial(fmt::format("on {}: einsum mk,kn->mn {} -> f32[8,8] fill=normal", mesh, operands));
      add_in_f32(trial);
      const Verdict verdict = trial.verdict();
      EXPECT_EQ(verdict.status, Status::pass) << trial.c.mesh.axes[0].size << operands;
      EXPECT_GT(verdict.rounded, 0) << "else nothing was tested";
    }
}

// So few elements are any of the lies by chance: the one of 27 parts on a wire of 4 digits.
TEST(Vacuity, AFewElementsAreNoLie) {
  int rounded = 0;
  for (int seed = 0; seed < 200; ++seed) {
    Trial trial(fmt::format("on x=27: reshard f32[1]+x -> f32[1] wire=f8e4m3 fill=normal seed={}", seed));
    double sum = 0;
    for (std::int64_t p = 0; p < 27; ++p)
      sum = decode(DType::f8e4m3, encode(DType::f8e4m3, sum + value(trial.operands[0], p)));
    for (auto& memory : trial.memory) store(DType::f32, memory.data(), encode(DType::f32, sum));
    const Verdict verdict = trial.verdict();
    EXPECT_EQ(verdict.status, Status::pass) << seed;
    rounded += verdict.rounded > 0;
  }
  EXPECT_GT(rounded, 100) << "else nothing was tested";
}

// Nothing was written: memory is full of ones, NaN in these formats, where a sum of 64 may overflow.
TEST(Vacuity, WhatMayOverflowProvesNothing) {
  for (const char* line : {"on x=64: reshard f8e5m2[64]+x -> f8e5m2[64] fill=normal",
                           "on x=64: reshard f8e4m3[64]+x -> f8e4m3[64] fill=normal"}) {
    Trial trial(line);
    EXPECT_EQ(trial.verdict().status, Status::pass);
    for (auto& memory : trial.memory) std::ranges::fill(memory, std::byte{0xff});
    const Verdict verdict = trial.verdict();
    EXPECT_EQ(verdict.status, Status::mistrusted);
    EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("may have overflowed"));
  }
}

TEST(Vacuity, OneElementThatMayOverflowProvesNothing) {
  Trial trial("on x=64: reshard f8e5m2[64]+x -> f8e5m2[64@x] fill=normal");
  std::ranges::fill(trial.memory[3], std::byte{0xff});
  const Verdict verdict = trial.verdict();
  ASSERT_EQ(verdict.status, Status::mistrusted);
  EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("1 of the elements that differ may have overflowed"));
}

// Where ranks proved their blocks all that is known of these is whether each is all alike.
TEST(Vacuity, ProofsOfWhatIsAllAlikeProveNothing) {
  const Trial trial("on x=2: reshard s8[4@x] -> s8[4]");
  const Proven seven{Proven::Answer::proved, 9, 7, true};
  Proven eight = seven, mixed = seven, other = seven;
  eight.first = 8, mixed.alike = false, other.digest = 8;
  const auto passes = [&](const Proven& a, const Proven& b) {
    return judge_proved(trial.c, trial.outcome, {a, b}, {}).has_value();
  };
  EXPECT_FALSE(passes(seven, seven));
  EXPECT_TRUE(passes(seven, eight));
  EXPECT_TRUE(passes(mixed, mixed));
  EXPECT_FALSE(passes(mixed, other)) << "replicas that differ";
}

// Where the bound would allow zeros everywhere.
TEST(Vacuity, TheSignOfAZeroIsNoDoubt) {
  int zeros_met = 0;
  for (int seed = 0; seed < 40; ++seed) {
    Trial trial(fmt::format("on x=2: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> bf16[4,4] seed={}", seed));
    trial.declared.acc_unspecified = true;
    for (std::int64_t e = 0; e < 16; ++e)
      if (value(trial.whole, e) == 0) {
        ++zeros_met;
        for (std::int64_t device = 0; device < 2; ++device) trial.element<std::uint16_t>(device, e) = 0x8000;
      }
    EXPECT_EQ(trial.verdict().status, Status::pass) << seed;
  }
  EXPECT_GT(zeros_met, 0) << "else nothing was tested";
}

TEST(Vacuity, AWrongSumOfIntegersIsWrong) {
  for (const char* dtype : {"s8", "s32"})
    for (const char* how : {"+x", "+max(x)", "+min(x)"}) {
      Trial trial(fmt::format("on x=4: reshard {0}[8]{1} -> {0}[8@x]", dtype, how));
      for (auto& memory : trial.memory) memory[0] ^= std::byte{1};
      EXPECT_EQ(trial.verdict().status, Status::wrong) << dtype << how;
    }
}

Status of_zeros(const std::string& line, bool tail_undefined = false) {
  Trial trial("on x=2: " + line);
  trial.declared.tail_undefined = tail_undefined;
  return trial.verdict().status;
}

TEST(Vacuity, ZerosThatAreThereWhateverTheDataArePass) {
  const std::string no_group = "grouped fwd f32[9@x,5] f32[1,5,4@x] sizes=0 -> f32[9@x,4]";
  EXPECT_EQ(of_zeros(no_group), Status::pass);
  EXPECT_EQ(of_zeros(no_group, true), Status::mistrusted) << "every row is masked";
  EXPECT_EQ(of_zeros("grouped wgrad f32[8@x,4] f32[8@x,4] sizes=0,0 -> f32[2,4,4]"), Status::pass);
  EXPECT_EQ(of_zeros("einsum mk,kn->mn f32[4@x,0] f32[0,4] -> f32[4@x,4]"), Status::pass);

  Trial unwritten("on x=2: " + no_group);
  unwritten.memory[0][3] = std::byte{0xff};
  EXPECT_NE(unwritten.verdict().status, Status::pass);

  Trial cancelled("on x=2: reshard f32[4]+x -> f32[4]");
  cancelled.whole = zeros(DType::f32, {4});
  for (auto& memory : cancelled.memory) std::ranges::fill(memory, std::byte{0});
  EXPECT_EQ(cancelled.verdict().status, Status::mistrusted) << "other data would not give zeros";
}

TEST(Vacuity, OneResultThatCouldHaveFailedIsEnough) {
  const auto doubted = [](const std::string& line, std::vector<Tensor> wholes) {
    return cannot_fail(parse_case("on x=2: " + line), wholes, {}).has_value();
  };
  const std::string line = "quantize fp8 bf16[2] -> f8e4m3[2] f32[]";
  const Tensor codes = tensor(DType::f8e4m3, {2}, {1, 2}), zero_codes = zeros(DType::f8e4m3, {2});
  const Tensor scale = tensor(DType::f32, {}, {0.5}), no_scale = zeros(DType::f32, {});
  EXPECT_FALSE(doubted(line, {codes, scale}));
  EXPECT_FALSE(doubted(line, {codes, no_scale}));
  EXPECT_FALSE(doubted(line, {zero_codes, scale}));
  EXPECT_TRUE(doubted(line, {zero_codes, no_scale}));
  const Tensor no_codes = zeros(DType::f8e4m3, {0});
  EXPECT_FALSE(doubted(line, {no_codes, scale})) << "one that is not zero";
  EXPECT_TRUE(doubted(line, {no_codes, no_scale}));
  EXPECT_FALSE(doubted("reshard f32[0,4] -> f32[0@x,4]", {zeros(DType::f32, {0, 4})})) << "none can be wrong";
}

}  // namespace
}  // namespace plumb
