#include "harness/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/judge/testing/trial.h"

namespace plumb {
namespace {

std::vector<std::string> texts(const Verdict& verdict) {
  std::vector<std::string> all;
  for (const Fact& fact : verdict.facts) all.push_back(std::string(name(fact.status)) + ": " + fact.text);
  return all;
}

TEST(Judge, AnHonestAnswerPasses) {
  for (const char* line : {
           "on x=2: reshard f32[8@x] -> f32[8]",
           "on x=2,y=3: reshard bf16[7@y,5] -> bf16[7,5@x.y]",
           "on x=2,y=2 ids=3,1,0,2: reshard s8[5@x.y] -> s8[5@y] nested",
           "on x=2,y=2: reshard f32[8]+x.y -> f32[8@y]",
           "on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y",
           "on x=2,y=2: einsum mk,kn->mn bf16[4@x,8@y] bf16[8@y,4] -> bf16[4@x,4]",
           "on x=2: grouped fwd f32[8@x,4] f32[3,4,2] sizes=3,0,4 -> f32[8@x,2]",
       }) {
    const Verdict verdict = Trial(line).verdict();
    EXPECT_EQ(verdict.status, Status::pass) << line << "\n" << testing::PrintToString(texts(verdict));
  }
}

TEST(Judge, AnotherSliceIsMisplaced) {
  Trial trial("on x=2,y=2: reshard f32[8@x] -> f32[8@y]");
  for (Block& block : trial.outcome.blocks)
    (*block.claim)[0][0] = block.device < 2 ? Range{0, 4} : Range{4, 8};
  trial.outcome.claims = {std::nullopt};
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::misplaced);
  EXPECT_THAT(
      verdict.facts[0].text,
      testing::HasSubstr("2 of 4 devices; the first, 1 (x=0,y=1), says it holds [0:4] instead of [4:8]"));
}

TEST(Judge, AFalseClaimIsMisplaced) {
  Trial trial("on x=2,y=2: reshard f32[8@x] -> f32[8@y]");
  trial.outcome.claims = {"f32[8@x]"};
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
  trial.outcome.claims = {"f32[8@y]+x"};
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
}

TEST(Judge, AnAxisOfSizeOneInTheClaimIsNoDifference) {
  Trial trial("on x=2,y=1: reshard f32[8@x] -> f32[8]");
  trial.outcome.claims = {"f32[8@y]"};
  EXPECT_EQ(trial.verdict().status, Status::pass);
}

TEST(Judge, ABlockOfAnotherSizeThatSaysNothingIsMisplaced) {
  Trial trial("on x=2: reshard f32[8@x] -> f32[8]");
  trial.outcome.blocks[1].claim.reset();
  trial.outcome.blocks[1].bytes = 16;
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
}

TEST(Judge, ABlockThatIsNoWholeNumberOfElementsIsMisplaced) {
  Trial trial("on x=2: reshard f32[2@x] -> f32[2]");
  trial.outcome.blocks[1].claim.reset();
  trial.memory[1].assign(9, std::byte{1});
  trial.outcome.blocks[1].bytes = 9;
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
}

TEST(Judge, PartsThatAreTooShortAreMisplacedAndNotRead) {
  Trial trial("on x=2,y=2: reshard f32[512] -> f32[512]+x");
  for (std::size_t device = 0; device < 4; ++device) {
    trial.memory[device].resize(4);
    trial.outcome.blocks[device].bytes = 4;
  }
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
}

TEST(Judge, APlanIsJudgedByItsClaimAndItsMoves) {
  Trial trial("on x=2,y=2: reshard f32[8@x] -> f32[8@y]");
  trial.declared.data_none = true;
  trial.outcome.blocks.clear();
  trial.outcome.trace = {
      {.kind = "collective-permute", .pairs = {{1, 2}, {2, 1}}, .in = 16, .out = 16}
  };
  EXPECT_EQ(trial.verdict().status, Status::pass);
  trial.outcome.claims = {"f32[8@x]"};
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
  trial.outcome.claims = {std::nullopt};
  EXPECT_EQ(trial.verdict().status, Status::mistrusted) << "it said nothing that could be wrong";
  Trial open("on x=2: reshard f32[8] -> f32[8]");
  open.declared.data_none = true;
  open.outcome.blocks.clear();
  EXPECT_EQ(open.verdict().status, Status::pass);
  open.outcome.claims = {"f32[8]?"};
  EXPECT_EQ(open.verdict().status, Status::misplaced) << "it leaves the layout open";
}

TEST(Judge, PoisonLeaks) {
  Trial trial("on x=2: reshard f32[7@x] -> f32[7]");
  std::memset(&trial.element<float>(1, 6), 0xff, 4);
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::leaked);
  EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("1 element on 1 device, 1 of them poison"));
}

TEST(Judge, MinusOneIsPoisonOnlyWhereAllThatDiffersIs) {
  Trial trial("on x=2: reshard s32[8@x] -> s32[8]");
  trial.element<std::int32_t>(1, 6) = -1;
  EXPECT_EQ(trial.verdict().status, Status::leaked);
  trial.element<std::int32_t>(1, 7) ^= 4;
  EXPECT_EQ(trial.verdict().status, Status::wrong) << "-1 is a number, too";
}

TEST(Judge, OneBitInOneElementIsWrongAndSaysWhere) {
  Trial trial("on dp=2,tp=2: reshard f32[4@dp,4] -> f32[4,4@tp]");
  trial.element<std::uint32_t>(3, 5) ^= 1;
  const Verdict verdict = trial.verdict();
  ASSERT_EQ(verdict.status, Status::wrong);
  const Place& place = *verdict.facts[0].place;
  EXPECT_EQ(place.device, 3);
  EXPECT_EQ(place.coordinates, "dp=1,tp=1");
  EXPECT_EQ(place.index, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(place.devices, 1);
  EXPECT_EQ(place.elements, 1);
  EXPECT_NE(place.want, place.got);
  EXPECT_EQ(verdict.facts.back().status, Status::diverged) << "device 1 holds the right bits";
}

TEST(Judge, ReplicasMustAgreeOnEveryBitEvenOfZero) {
  Trial trial("on x=2: reshard f32[4]+x -> f32[4]");
  // Zeros are equal by value, so both devices are right; but they are not the same zero.
  const auto* parts = reinterpret_cast<const float*>(trial.operands[0].bytes.data());
  for (int i = 0; i < 4; ++i) {
    const_cast<float*>(parts)[i] = 1 + i / 3, const_cast<float*>(parts)[4 + i] = -1;
    trial.element<float>(0, i) = i / 3, trial.element<float>(1, i) = i / 3;
  }
  trial.whole = evaluate(trial.c, trial.operands);
  EXPECT_EQ(trial.verdict().status, Status::pass);
  trial.element<std::uint32_t>(1, 2) = 0x80000000;
  EXPECT_EQ(trial.verdict().status, Status::diverged);
  trial.declared.clones = true;
  EXPECT_EQ(trial.verdict().status, Status::pass) << "copies of one result claim no agreement";
  EXPECT_TRUE(trial.verdict().clones);
}

TEST(Judge, PartsOfAnUnfinishedResultAreFreeButReplicasAgree) {
  Trial trial("on x=2,y=2: reshard f32[4] -> f32[4]+x");
  for (int i = 0; i < 4; ++i)
    for (std::int64_t y = 0; y < 2; ++y) {
      trial.element<float>(2 + y, i) = trial.element<float>(y, i) / 2;
      trial.element<float>(y, i) /= 2;
    }
  EXPECT_EQ(trial.verdict().status, Status::pass);
  const float half = trial.element<float>(1, 0);
  trial.element<float>(1, 0) += half;
  trial.element<float>(3, 0) -= half;
  EXPECT_EQ(trial.verdict().status, Status::diverged) << "the sum is right, the replica over y differs";
  EXPECT_THAT(trial.verdict().facts[0].text,
              testing::HasSubstr("the finished result is right on every replica"));
  trial.element<float>(3, 0) += half;
  EXPECT_EQ(trial.verdict().status, Status::wrong);
  for (const Fact& fact : trial.verdict().facts)
    EXPECT_THAT(fact.text, testing::Not(testing::HasSubstr("right")));
}

// A quarter of an ulp in a part, so that the sum is the wanted number once it is rounded; three quarters, so
// that it is the next.
TEST(Judge, PartsThatAreRoundedPassByTheBoundWhereTheBackendSaysSo) {
  for (int i = 0; i < 4; ++i) {
    Trial trial("on x=2,y=2: reshard f32[4] -> f32[4]+x");
    const float whole = trial.element<float>(0, i);
    const float ulp = std::nextafter(whole, std::copysign(HUGE_VALF, whole)) - whole;
    const auto off_by = [&](float ulps, bool rounded) {
      for (std::int64_t y : {0, 1}) trial.element<float>(2 + y, i) = ulps * ulp;
      trial.declared.parts_rounded = rounded;
      return trial.verdict();
    };
    EXPECT_EQ(off_by(0, true).rounded, 0) << "every bit is the wanted one";
    EXPECT_EQ(off_by(0.25, false).status, Status::wrong);
    const Verdict said = off_by(0.25, true);
    EXPECT_EQ(said.status, Status::pass);
    EXPECT_EQ(said.rounded, 2) << "an element of each of two fibres";
    EXPECT_EQ(off_by(0.75, false).status, Status::wrong);
    EXPECT_EQ(off_by(0.75, true).status, Status::wrong);
  }
}

// No value of the format is a multiple of 5, and the data of `normal` are of no number: a copy is one all the
// same.
TEST(Judge, PartsOfAMeanOfWhatIsWholeAreTheValue) {
  for (const char* line : {"on ep=5: reshard f8e5m2[8@ep,2] -> f8e5m2[8,2]+avg(ep)",
                           "on ep=5: reshard f8e5m2[8@ep,2] -> f8e5m2[8@ep,2] -> f8e5m2[8,2]+avg(ep)",
                           "on ep=5: reshard f8e5m2[16] -> f8e5m2[16]+avg(ep) fill=normal"}) {
    Trial trial(line);
    EXPECT_EQ(trial.proof.scope, Certificate::Scope::none) << line;
    EXPECT_EQ(trial.verdict().status, Status::pass) << line;
    for (int i = 0; i < 16; ++i) trial.memory[3][i] = std::byte(std::to_integer<int>(trial.memory[3][i]) ^ 1);
    EXPECT_EQ(trial.verdict().status, Status::wrong) << line;
    trial.declared.parts_rounded = true;
    EXPECT_EQ(trial.verdict().status, Status::pass) << line;
    EXPECT_EQ(trial.verdict().rounded, 16) << line;
  }
}

// Nothing rounds where the wire and the accumulator hold all values, whatever they count to.
TEST(Judge, WhatIsOnlyComparedIsJudgedBitByBit) {
  for (const std::string line :
       {"on e_1=3,x=3: reshard f8e5m2[24] -> f8e5m2[24]+max(x.e_1) -> f8e5m2[24@x] acc=f64",
        "on x=2,ids=3: reshard f8e5m2[40@ids] -> f8e5m2[40]+min(x) -> f8e5m2[40] fill=normal",
        "on x=3: reshard f8e5m2[24]+max(x) -> f8e5m2[24]", "on x=3: reshard f32[24] -> f32[24]+min(x)"}) {
    EXPECT_EQ(Trial(line).verdict().status, Status::pass) << line;
    Trial twice(line);
    for (auto& memory : twice.memory)
      for (std::byte* at = memory.data(); at < memory.data() + memory.size();) {
        const DType dtype = twice.whole.dtype;
        store(dtype, at, encode(dtype, 2 * decode(dtype, load(dtype, at))));
        at += format(dtype).bytes;
      }
    EXPECT_EQ(twice.verdict().status, Status::wrong) << line;
  }
}

TEST(Judge, AnAnswerThatCouldNotHaveBeenWrongIsMistrusted) {
  EXPECT_EQ(Trial("on x=2: reshard f32[0@x,3] -> f32[0,3]").verdict().status, Status::pass)
      << "no element can be wrong";
  Trial trial("on x=2: reshard s8[4@x] -> s8[4]");
  trial.whole.bytes.assign(4, std::byte{7});
  for (auto& bytes : trial.memory) bytes.assign(4, std::byte{7});
  EXPECT_EQ(trial.verdict().status, Status::mistrusted);
}

TEST(Judge, RowsOfATailAreFreeOnlyWhereTheBackendSaysSo) {
  Trial trial("on x=2: grouped fwd f32[8@x,4] f32[2,4,2] sizes=3,2 -> f32[8@x,2]");
  trial.element<float>(1, 7) = 5;
  EXPECT_EQ(trial.verdict().status, Status::wrong);
  trial.declared.tail_undefined = true;
  EXPECT_EQ(trial.verdict().status, Status::pass);
  EXPECT_EQ(masked_rows(trial.c, trial.declared), 3);
  trial.element<float>(1, 0) += 5;
  EXPECT_EQ(trial.verdict().status, Status::wrong) << "row 4 belongs to group 1";
}

TEST(Judge, FreeRowsMayDifferBetweenReplicasAndReruns) {
  for (const char* line : {
           "on x=2: grouped fwd f32[8,4] f32[2,4,2] sizes=3,2 -> f32[8,2]",
           "on x=2: grouped fwd f32[8,64@x] f32[2,64@x,2] sizes=3,2 -> f32[8,2] fill=normal",
           "on x=2,y=2: grouped fwd f32[8,4@x] f32[2,4@x,2] sizes=3,2 -> f32[8,2]+x",
       }) {
    Trial trial(line);
    trial.declared.tail_undefined = true;
    const std::uint64_t before = trial.bits_digest();
    trial.element<float>(1, 10) = 1e9;
    trial.element<float>(0, 15) = std::numeric_limits<float>::quiet_NaN();
    const Verdict verdict = trial.verdict();
    EXPECT_EQ(verdict.status, Status::pass) << line << testing::PrintToString(texts(verdict));
    EXPECT_EQ(trial.bits_digest(), before) << line;
    trial.element<float>(1, 9) *= 2;
    EXPECT_NE(trial.verdict().status, Status::pass) << line;
    EXPECT_NE(trial.bits_digest(), before) << line;
  }
}

TEST(Judge, FreeRowsOfEveryResultMayDifferBetweenReruns) {
  const Case c =
      parse_case("on x=2: quantize mxfp8 bf16[64@x,32] sizes=33,5 -> f8e4m3[64@x,32] e8m0[64@x,1]");
  Outcome outcome;
  std::vector<std::vector<std::byte>> memory;
  for (std::int64_t result : {0, 1})
    for (std::int64_t device : {0, 1}) {
      memory.emplace_back(result == 0 ? 32 * 32 : 32);
      outcome.blocks.push_back({device, result, memory.size() - 1, memory.back().size(), {}});
    }
  const Read read = [&](const Block& block, std::span<std::byte> into) {
    std::ranges::copy(memory[block.offset], into.begin());
  };
  const Declared undefined{.tail_undefined = true};
  const auto bits = [&] { return digest_of_blocks(outcome, masked(c, read, undefined)); };
  EXPECT_EQ(masked_rows(c, undefined), 64 - 38);
  const std::uint64_t before = bits();
  memory[1][6 * 32] = memory[3][6] = std::byte{7};  // row 38, on the second device
  EXPECT_EQ(bits(), before);
  memory[3][5] = std::byte{7};
  EXPECT_NE(bits(), before) << "row 37 is of the second group";
}

TEST(Judge, ClonesLeaveNothingUntestedWhereNoTwoDevicesHoldTheSame) {
  Trial trial("on x=2,y=2: reshard f32[8@x] -> f32[8@y.x]");
  trial.declared.clones = true;
  EXPECT_EQ(trial.verdict().status, Status::pass);
  EXPECT_FALSE(trial.verdict().clones);
}

TEST(Judge, APassByTheBoundSaysHowManyElementsItJudged) {
  Trial trial("on x=2: einsum mk,kn->mn f32[4,256@x] f32[256@x,4] -> f32[4,4] fill=normal");
  EXPECT_EQ(trial.verdict().rounded, 0) << "every bit is the wanted one";
  for (std::int64_t device : {0, 1}) trial.element<std::uint32_t>(device, 3) ^= 1;
  EXPECT_EQ(trial.verdict().status, Status::pass);
  EXPECT_EQ(trial.verdict().rounded, 2);
}

TEST(Judge, OneDeviceProvesNoAgreement) {
  EXPECT_TRUE(Trial("on x=1: reshard f32[4@x] -> f32[4]").verdict().alone);
}

}  // namespace
}  // namespace plumb
