// Claims and codes, device by device and result by result: what is said of the last counts as what is said of
// the first.
#include "harness/judge/results.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"

namespace plumb {
namespace {

// A quantize with the answer that an honest backend would give.
struct Quantizing {
  Case c;
  std::vector<Tensor> operands, wholes;
  Outcome outcome;
  std::vector<std::vector<std::byte>> memory;

  explicit Quantizing(const std::string& line) : c(parse_case(line)) {
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    wholes = evaluate_all(c, operands);
    for (std::int64_t r = 0; r < std::ssize(wholes); ++r) {
      outcome.claims.push_back(print(c.mesh, results(c)[r]));
      for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
        const Slice slice = block(c.mesh, results(c)[r], c.rule, device);
        std::vector<std::byte>& bytes = memory.emplace_back(elements(slice) * format(wholes[r].dtype).bytes);
        cut(wholes[r].shape, slice, wholes[r].bytes.data(), bytes.data(), format(wholes[r].dtype).bytes);
        Block& own = outcome.blocks.emplace_back(Block{device, r, memory.size() - 1, bytes.size(), {}});
        own.claim.emplace();
        for (const Range& range : slice) own.claim->push_back({range});
      }
    }
  }
  Verdict verdict(const Declared& declared) const {
    const auto read = [&](const Block& b, std::span<std::byte> into) {
      std::memcpy(into.data(), memory[b.offset].data(), into.size());
    };
    return judge(WantedAll{c, operands, wholes, certificate(c)}, outcome, read, declared);
  }
  Status status() const { return verdict({}).status; }
};

const char* const kQuantize = "on x=2: quantize mxfp8 bf16[4@x,64] -> f8e4m3[4@x,64] e8m0[4@x,2]";

TEST(Results, TheClaimOfEveryResultCounts) {
  ASSERT_EQ(Quantizing(kQuantize).status(), Status::pass);
  for (const char* claim : {"e8m0[4,2]", "e8m0[4,2@x]", "e8m0[2@x,4]"}) {
    Quantizing q(kQuantize);
    q.outcome.claims[1] = claim;
    EXPECT_EQ(q.status(), Status::misplaced) << claim;
  }
  for (std::size_t b = 0; b < 4; ++b) {
    Quantizing q(kQuantize);
    std::vector<Range>& rows = (*q.outcome.blocks[b].claim)[0];
    rows[0] = rows[0].begin == 0 ? Range{2, 4} : Range{0, 2};
    EXPECT_EQ(q.status(), Status::misplaced) << "block " << b;
  }
}

// Blocks of the result without one term, rounded once.
Status without_term(const std::string& line, std::int64_t term) {
  Quantizing q(line);
  std::vector<Tensor> operands = q.operands;
  Tensor& left = operands[0];
  const std::int64_t terms = left.shape[1];
  for (std::int64_t m = 0; m < left.shape[0]; ++m)
    store(left.dtype, left.bytes.data() + (m * terms + term) * format(left.dtype).bytes, 0);
  const Tensor sums = evaluate_all(q.c, operands)[0];
  for (std::int64_t device = 0; device < devices(q.c.mesh); ++device)
    cut(sums.shape, block(q.c.mesh, result(q.c), q.c.rule, device), sums.bytes.data(),
        q.memory[device].data(), format(sums.dtype).bytes);
  return q.status();
}

TEST(Results, EachTermOfQuantizedOperandsCountsWhereSumsAreExact) {
  for (const char* line : {"on x=8: einsum mk,kn->mn bf16[8,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[8,8]",
                           "on x=8: einsum mk,kn->mn bf16[8,64@x]~fp8e5 bf16[64@x,8]~fp8e5 -> f32[8,8]",
                           "on x=4: einsum mk,kn->mn bf16[8,64@x]~mxfp8 bf16[64@x,8]~mxfp8 -> f32[8,8]",
                           "on x=4: einsum mk,kn->mn bf16[8,64]~mxfp8 bf16[64,8@x]~mxfp8 -> bf16[8,8@x]"})
    for (std::int64_t term = 0; term < 64; ++term)
      EXPECT_EQ(without_term(line, term), Status::wrong) << line << " " << term;
}

// A scale, its inverse, the history: none of four may lie or be otherwise than is asked.
TEST(Results, NoResultIsLeftOut) {
  const char* line = "on x=2: quantize fp8 bf16[4@x,64] f32[16] f32[] -> f8e4m3[4@x,64] f32[] f32[16] f32[]";
  const Quantizing honest(line);
  ASSERT_EQ(honest.status(), Status::pass);
  const std::string others[] = {"f8e4m3[4,64]", "f32[1]", "f32[16@x]", "bf16[]"};
  for (std::size_t r = 0; r < 4; ++r) {
    Quantizing q = honest;
    q.outcome.claims[r] = others[r];
    EXPECT_EQ(q.status(), Status::misplaced) << r;
  }
  for (std::size_t b = 0; b < 8; ++b) {  // two devices' of each result
    Quantizing q = honest;
    q.memory[b].front() ^= std::byte{1};
    EXPECT_EQ(q.status(), Status::wrong) << "block " << b;
  }
}

// Sums of codes that round to 8 bits on their way: a half of the terms, or one of the two of a rank, shows in
// all elements together.
TEST(Results, TermsThatAreLeftOutOfANarrowSumShow) {
  const struct {
    const char* line;
    std::int64_t from, to;
  } rows[] = {
  // clang-format off
      {"on x=8: einsum mk,kn->mn bf16[33,64@x]~fp8 bf16[64@x,12]~fp8 -> f8e4m3[33,12]", 32, 64},
      {"on x=32: einsum mk,kn->mn bf16[64,64@x]~fp8 bf16[64@x,64]~fp8 -> f8e4m3[64,64]", 32, 64},
      {"on x=32: einsum mk,kn->mn bf16[64,64@x]~fp8 bf16[64@x,64]~fp8 -> f8e4m3[64,64]", 63, 64},
      {"on x=4: einsum mk,kn->mn bf16[33,64@x]~mxfp8 bf16[64@x,12]~mxfp8 -> f8e4m3[33,12]", 32, 64},
  // clang-format on
  };
  for (const auto& row : rows)
    for (int seed = 0; seed < 8; ++seed) {
      Quantizing q(fmt::format("{} seed={}", row.line, seed));
      ASSERT_EQ(q.status(), Status::pass) << row.line;
      const Plain codes = plain(q.c, q.operands);
      std::vector<Tensor> some = codes.operands;
      const std::int64_t k = some[0].shape[1];
      for (std::int64_t i = 0; i < elements(some[0].shape); ++i)
        if (i % k >= row.from && i % k < row.to)
          store(some[0].dtype, some[0].bytes.data() + i * format(some[0].dtype).bytes, 0);
      const Tensor lie = evaluate(codes.c, some);
      for (std::vector<std::byte>& block : q.memory) block = lie.bytes;
      EXPECT_EQ(q.status(), Status::wrong)
          << row.line << " without " << row.from << " to " << row.to << " " << seed;
    }
}

TEST(Results, OfAllResultsTogetherOneMayFailOrHaveReplicas) {
  EXPECT_EQ(Quantizing("on x=2: quantize mxfp8 bf16[0@x,64] -> f8e4m3[0@x,64] e8m0[0@x,2]").status(),
            Status::pass)
      << "no element can be wrong";
  // Codes on both devices, scales on one each; the other way round; neither.
  const Declared clones{.clones = true};
  const auto cloned = [&](const char* results) {
    return Quantizing(std::string("on x=2: quantize mxfp8 bf16[4@x,64] -> ") + results)
        .verdict(clones)
        .clones;
  };
  EXPECT_TRUE(cloned("f8e4m3[4,64] e8m0[4@x,2]"));
  EXPECT_TRUE(cloned("f8e4m3[4@x,64] e8m0[4,2]"));
  EXPECT_FALSE(cloned("f8e4m3[4@x,64] e8m0[4@x,2]"));
}

// The sign of a zero that is a code, of every result of floating point.
TEST(Results, AZeroThatIsACodeHasOneSign) {
  int zeros_seen = 0;
  for (const char* line :
       {"on x=2: quantize fp8 bf16[4@x,64] sizes=3 -> f8e4m3[4@x,64] f32[1]",
        "on x=2: quantize fp8 bf16[4@x,64] f32[16] f32[] -> f8e4m3[4@x,64] f32[] f32[16] f32[]"}) {
    const Quantizing honest(line);
    ASSERT_EQ(honest.status(), Status::pass);
    for (std::size_t b = 0; b < honest.outcome.blocks.size(); ++b) {
      const DType dtype = honest.wholes[honest.outcome.blocks[b].result].dtype;
      const int width = format(dtype).bytes;
      for (std::size_t at = 0; at < honest.memory[b].size(); at += width) {
        if (load(dtype, honest.memory[b].data() + at) != 0) continue;
        Quantizing q = honest;
        q.memory[b][at + width - 1] = std::byte{0x80};
        EXPECT_EQ(q.status(), Status::wrong) << line << " block " << b << " at " << at;
        ++zeros_seen;
        break;
      }
    }
  }
  EXPECT_GE(zeros_seen, 2) << "else nothing was tested";
}

// Nor of zeros that are only moved, where the data have +0 alone.
TEST(Results, AZeroThatIsMovedHasOneSign) {
  // As many elements as there are patterns: one is +0.
  Trial trial("on x=2: reshard f8e4m3[253@x] -> f8e4m3[253]");
  ASSERT_EQ(trial.verdict().status, Status::pass);
  int zeros = 0;
  for (std::int64_t i = 0; i < 253; ++i)
    if (bits(trial.whole, i) == 0) trial.memory[1][i] = std::byte{0x80}, ++zeros;
  EXPECT_EQ(zeros, 1);
  EXPECT_EQ(trial.verdict().status, Status::wrong);
}

// Of one of several results nothing is asked that all together answer, also where it is left free.
TEST(Results, WhetherOneCouldFailIsAskedOfAllTogether) {
  for (const char* line : {"on x=2: reshard f32[4]+x -> f32[4]", "on x=2: reshard f32[4]+x -> f32[4]?"})
    for (const bool one_of_several : {false, true}) {
      Trial trial(line);
      trial.outcome.claims = {"f32[4]"};
      trial.whole = zeros(DType::f32, {4});
      for (auto& memory : trial.memory) std::ranges::fill(memory, std::byte{0});
      const Wanted wanted{trial.c, trial.operands, trial.whole, trial.proof, one_of_several};
      const Status status = judge(wanted, trial.outcome, std::bind_front(&Trial::read, &trial), {}).status;
      EXPECT_EQ(status, one_of_several ? Status::pass : Status::mistrusted) << line;
    }
}

TEST(Results, WhatEachDeviceSaysCounts) {
  for (std::size_t device = 0; device < 4; ++device) {
    Trial trial("on x=4: reshard f32[8] -> f32[8@x]");
    Range& range = (*trial.outcome.blocks[device].claim)[0][0];
    range = device == 0 ? Range{2, 4} : Range{0, 2};
    EXPECT_EQ(trial.verdict().status, Status::misplaced) << device;
    trial.outcome.claims = {std::nullopt};
    EXPECT_EQ(trial.verdict().status, Status::misplaced) << device;
  }
}

// A claim that differs for the one device that is due nothing, the last or, of other ids, the first.
TEST(Results, AClaimCountsForADeviceThatIsDueNothing) {
  for (const char* mesh : {"x=2", "x=2 ids=1,0"}) {
    Trial trial(std::string("on ") + mesh + ": reshard f32[1,2] -> f32[1@x,2]");
    for (Block& block : trial.outcome.blocks) block.claim.reset();
    EXPECT_EQ(trial.verdict().status, Status::pass) << mesh;
    trial.outcome.claims = {"f32[1,2]"};
    EXPECT_EQ(trial.verdict().status, Status::misplaced) << mesh;
  }
  Trial empty("on x=2: reshard f32[0@x,3] -> f32[0,3]");
  EXPECT_EQ(empty.verdict().status, Status::pass) << "no element can be wrong";
  for (const char* claim : {"f32[0,5]", "f32[0]", "bf16[0,3]"}) {
    empty.outcome.claims = {claim};
    EXPECT_EQ(empty.verdict().status, Status::misplaced) << claim;
  }
}

TEST(Results, AClaimSaysHowPartsAreReduced) {
  const auto claimed = [](const char* line, const char* claim) {
    Trial trial(line);
    EXPECT_EQ(trial.verdict().status, Status::pass) << line;
    trial.outcome.claims = {claim};
    return trial.verdict().status;
  };
  EXPECT_EQ(claimed("on x=2,y=2: reshard f32[8]+x -> f32[8@y]+x", "f32[8@y]+avg(x)"), Status::misplaced);
  EXPECT_EQ(claimed("on x=2,y=2: reshard f32[8]+avg(x) -> f32[8@y]+avg(x)", "f32[8@y]+x"), Status::misplaced);
  EXPECT_EQ(claimed("on x=2,y=2: reshard f32[8]+avg(x)+y -> f32[8]+avg(x)+y", "f32[8]+x+avg(y)"),
            Status::misplaced);
  EXPECT_EQ(claimed("on x=2,y=2: reshard f32[8]+max(x) -> f32[8@y]+max(x)", "f32[8@y]+min(x)"),
            Status::misplaced);
  EXPECT_EQ(claimed("on x=2,y=2: reshard f32[8]+x -> f32[8]+x", "f32[8]+y"), Status::misplaced);
  // An axis of one device has no parts.
  EXPECT_EQ(claimed("on x=2,y=1: reshard f32[8]+x -> f32[8]+x", "f32[8]+x.y"), Status::pass);
  EXPECT_EQ(claimed("on x=2,y=1: reshard f32[8]+avg(x) -> f32[8]+avg(x)", "f32[8]+avg(x.y)"), Status::pass);
}

}  // namespace
}  // namespace plumb
