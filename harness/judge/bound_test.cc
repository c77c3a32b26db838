#include "harness/judge/bound.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"
#include "reference/rounding/testing/emulate.h"

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

// Neither acc nor wire rounds it, whatever moved.
TEST(Bound, ASumOfOnePartIsThatPart) {
  for (const char* line : {"on dp=2,x=1: reshard f64[3@dp]+x -> f64[3@dp]+x acc=bf16 fill=normal",
                           "on dp=2,x=1: reshard f64[3@dp]+x -> f64[3] acc=bf16 wire=bf16 fill=normal",
                           "on dp=2,x=1: reshard f64[3@dp]+avg(x) -> f64[3] acc=bf16 fill=normal"})
    for (const Trace& trace :
         {Trace{}, Trace{{.kind = "all-gather", .axes = {"dp"}, .in = 16, .out = 24}},
          Trace{{.kind = "send", .pairs = {{0, 1}, {1, 0}}, .in = 16, .out = 16}}, Trace{{.kind = "send"}}}) {
      Trial trial(line);
      trial.outcome.trace = trace;
      EXPECT_EQ(trial.verdict().status, Status::pass) << line;
      for (std::vector<std::byte>& block : trial.memory)
        for (std::size_t at = 0; at < block.size(); at += 8) {
          const double part = decode(DType::f64, load(DType::f64, block.data() + at));
          store(DType::f64, block.data() + at,
                encode(DType::f64, decode(DType::bf16, encode(DType::bf16, part))));
        }
      EXPECT_EQ(trial.verdict().status, Status::wrong) << line;
    }
}

// What the ranks add is the whole, or is not known: where one axis cuts two letters, or one letter otherwise
// in one operand than in the other, no rank sees some of the terms.
TEST(Bound, WhatTheRanksAddIsTheWholeOrIsNotKnown) {
  const struct {
    const char* line;
    bool known;
  } table[] = {
      {"on x=2,y=2: einsum mk,kn->mn bf16[4,8@x.y] bf16[8@x.y,4] -> bf16[4,4]",      true },
      {"on x=2,y=2: einsum mk,kn->mn bf16[4,8@x.y] bf16[8,4@x] -> bf16[4,4]",        true },
      {"on x=2,y=2: einsum mkl,kln->mn bf16[4,8@x,2@y] bf16[8@x,2,4] -> bf16[4,4]",  true },
      {"on x=2,y=2: einsum mk,kn->mn bf16[4,8@x]+y bf16[8,4] -> bf16[4,4]",          true },
      {"on x=2,y=2: einsum mk,kn->mn bf16[4,8@x.y] bf16[8@x,4] -> bf16[4,4]",        false},
      {"on x=2,y=2: einsum mk,kn->mn bf16[4,8@x] bf16[8@y,4] -> bf16[4,4]",          false},
      {"on x=2,y=2: einsum mkl,kln->mn bf16[4,8@x,2] bf16[8,2@x,4] -> bf16[4,4]",    false},
      {"on x=2,y=2: einsum mk,kn->mn bf16[4,8]+x bf16[8@x,4] -> bf16[4,4]",          false},
      {"on x=2,y=2: einsum mk,kn->mn bf16[4,8]+x bf16[8,4]+x -> bf16[4,4]",          false},
      {"on x=2,y=2: grouped wgrad bf16[8@x,4] bf16[8@x,4] sizes=3,5 -> bf16[2,4,4]", true },
      {"on x=2,y=2: grouped wgrad bf16[8@x,4] bf16[8@y,4] sizes=3,5 -> bf16[2,4,4]", false},
      {"on x=2,y=2: reshard bf16[8]+x.y -> bf16[8]",                                 true },
  };
  for (const auto& row : table) {
    const Trial t(std::string(row.line) + " fill=normal");
    const auto bound = bound_of({t.c, t.operands, t.whole, t.proof}, t.outcome, {});
    ASSERT_TRUE(bound) << row.line;
    const Tensor& partials = bound->partials;
    EXPECT_EQ(!partials.bytes.empty(), row.known) << row.line;
    const std::int64_t n = elements(t.whole.shape);
    for (std::int64_t i = 0; !partials.bytes.empty() && i < n; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; p < partials.shape[0]; ++p) sum += value(partials, p * n + i);
      EXPECT_EQ(sum, value(bound->exact.value, i)) << row.line;  // all of them exact in f64
    }
  }
}

// Whatever the dtypes, subnormal results and ties among them.
TEST(Bound, WhoRoundsOncePassesEverySeedOfEveryDtype) {
  const char* const dtypes[] = {"f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"};
  for (const char* in : dtypes)
    for (const char* out : dtypes)
      for (int seed = 0; seed < 40; ++seed)
        for (const char* line :
             {"einsum mk,kn->mn {0}[8,1] {0}[1,8@x] -> {1}[8,8@x]",
              "einsum mk,kn->mn {0}[8,3@x] {0}[3@x,8] -> {1}[8,8]", "reshard {1}[64]+x -> {1}[64@x]"}) {
          const std::string drawn = fmt::format(fmt::runtime(line), in, out);
          const Trial trial(fmt::format("on x=2: {} fill=normal seed={}", drawn, seed));
          const Verdict verdict = trial.verdict();
          EXPECT_EQ(verdict.status, Status::pass) << drawn << " " << seed << verdict.facts.front().text;
        }
}

// Parts added in the accumulate type of the case, each rounded when it is added.
TEST(Bound, AReshardAddsInTheTypeThatTheCaseSays) {
  Trial trial("on x=4: reshard f32[64]+x -> f32[64] acc=bf16 fill=normal");
  for (std::int64_t e = 0; e < 64; ++e) {
    double sum = 0;
    for (std::int64_t p = 0; p < 4; ++p)
      sum = decode(
          DType::bf16,
          encode(DType::bf16,
                 sum + decode(DType::bf16, encode(DType::bf16, value(trial.operands[0], 64 * p + e)))));
    for (auto& memory : trial.memory) store(DType::f32, memory.data() + 4 * e, encode(DType::f32, sum));
  }
  EXPECT_EQ(trial.verdict().status, Status::pass);
  trial.c.acc = DType::f32;
  EXPECT_EQ(trial.verdict().status, Status::wrong);
}

// An operand that is finished before it is multiplied rounds to its dtype, which is the wire's where the line
// does not say.
TEST(Bound, AnUnfinishedOperandIsFinishedInItsDtype) {
  for (const char* wire : {"", " wire=f32"}) {
    Trial trial(
        fmt::format("on x=2: einsum mk,kn->mn bf16[4,4]+x bf16[4,4] -> f32[4,4]{} fill=normal", wire));
    EXPECT_EQ(trial.c.wire, *wire ? DType::f32 : DType::bf16);
    Case whole = trial.c;
    whole.op.operands[0] = finished(whole.op.operands[0]);
    const Tensor& parts = trial.operands[0];
    Tensor sum = zeros(DType::bf16, {4, 4});
    for (std::int64_t i = 0; i < 16; ++i)
      store(DType::bf16, sum.bytes.data() + 2 * i,
            encode(DType::bf16, value(parts, i) + value(parts, 16 + i)));
    for (auto& memory : trial.memory) memory = evaluate(whole, {sum, trial.operands[1]}).bytes;
    const Verdict verdict = trial.verdict();
    EXPECT_EQ(verdict.status, Status::pass) << wire;
    EXPECT_GT(verdict.rounded, 0) << "else nothing was tested";
  }
}

// Ampere's engine, 8 terms at a time.
TEST(Bound, AnEngineThatTruncatesIsDeclared) {
  Trial trial("on x=2: einsum mk,kn->mn bf16[32,256] bf16[256,32] -> f32[32,32] fill=normal");
  std::vector<float> row(256), column(256);
  for (std::int64_t e = 0; e < 1024; ++e) {
    for (std::int64_t k = 0; k < 256; ++k)
      row[k] = static_cast<float>(value(trial.operands[0], e / 32 * 256 + k)),
      column[k] = static_cast<float>(value(trial.operands[1], k * 32 + e % 32));
    const double sum = add_in_blocks(kBlocks[1], row.data(), column.data(), 256);
    for (auto& memory : trial.memory) store(DType::f32, memory.data() + 4 * e, encode(DType::f32, sum));
  }
  EXPECT_EQ(trial.verdict().status, Status::wrong);
  trial.declared.engine = Engine::matrix;
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::pass) << verdict.facts.front().text;
  EXPECT_EQ(pass_of(verdict), Pass::bound);
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
  EXPECT_THAT(trial.verdict().facts[0].text, testing::HasSubstr("every replica is right but for rounding"));
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
  EXPECT_EQ(narrow.verdict().status, Status::mistrusted) << "in bf16 it may have lost everything";
  EXPECT_EQ(wide.verdict().status, Status::wrong) << "no narrower type than f32 can be meant";
}

TEST(Bound, ATraceThatShowsAnotherSplitTakesTheCertificateAway) {
  Trial trial("on x=2,y=2: einsum mk,kn->mn bf16[8,512@x] bf16[512@x,8] -> bf16[8,8]");
  ASSERT_EQ(trial.proof.scope, Certificate::Scope::this_split);
  const auto bound = [&](const char* kind, const char* axis) {
    Outcome outcome;
    outcome.trace.push_back({.kind = kind, .axes = {axis}});
    return bound_of({trial.c, trial.operands, trial.whole, trial.proof}, outcome, {}).has_value();
  };
  EXPECT_FALSE(bound("all-reduce", "x"));
  EXPECT_TRUE(bound("all-reduce", "y"));
  EXPECT_TRUE(bound("send", "y")) << "it may be a sum";
  for (const char* move : {"all-gather", "all-to-all", "collective-permute", "collective-broadcast"})
    EXPECT_FALSE(bound(move, "y")) << "a move shows no sum";
}

// Zeros for the second half of the sum: far within a bound for data that cancel, and wrong.
TEST(Bound, AMoveInTheTraceExcusesNothing) {
  Trial trial("on x=2,y=2: einsum mk,kn->mn bf16[8,512@x] bf16[512@x,8] -> bf16[8,8@y]");
  trial.outcome.trace = {
      {.kind = "reduce-scatter", .axes = {"x"}     },
      {.kind = "all-to-all",     .axes = {"x", "y"}}
  };
  EXPECT_EQ(trial.verdict().status, Status::pass);
  for (auto& memory : trial.memory) std::memset(memory.data(), 0, memory.size() / 2);
  EXPECT_EQ(trial.verdict().status, Status::wrong);
}

// The devices add in bf16 what the case does not split: as many parts as devices, or it could not differ.
TEST(Bound, AnotherSplitHasAsManyPartsAsThereAreDevices) {
  Trial trial("on x=4: einsum mk,kn->mn bf16[32,256] bf16[256,32] -> bf16[32,32] fill=normal");
  reduce_in_bf16(trial, {1, 1, 1, 1});
  EXPECT_EQ(trial.verdict().status, Status::wrong) << "no trace: each device adds in f32 and rounds once";
  trial.outcome.trace = {
      {.kind = "all-reduce", .axes = {"x"}}
  };
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::pass) << verdict.facts.front().text;
}

// What the trace says of the order: here as if each sum was kept in f32 and rounded once.
Trace kept_in_f32() {
  Collective sum{.kind = "all-reduce", .axes = {"x"}};
  sum.additions = 3, sum.roundings = 2;
  return {sum};
}

TEST(Bound, FollowsTheOrderThatTheTraceSays) {
  Trial trial(rounding);
  const auto bound_by = [&](const Trace& trace) {
    Outcome outcome;
    outcome.trace = trace;
    return *bound_of({trial.c, trial.operands, trial.whole, trial.proof}, outcome, {});
  };
  Trace any = kept_in_f32(), other = kept_in_f32(), with_send = kept_in_f32();
  any[0].additions = any[0].roundings = 0, other[0].axes = {}, with_send.push_back({.kind = "send"});
  other[0].groups = {
      {0, 1},
      {2, 3}
  };
  EXPECT_EQ(bound_by(kept_in_f32()).reduction.order->roundings, 2);
  for (const Trace& trace : {any, other, with_send, Trace{}})
    EXPECT_FALSE(bound_by(trace).reduction.order) << "not said of all that was added";
  const auto upper = [&](const Trace& trace, std::int64_t element) {
    const Bound bound = bound_by(trace);
    return interval(bound.reduction, bound.exact, element).high;
  };
  ASSERT_LT(upper(kept_in_f32(), 77), upper(any, 77));
  for (auto& memory : trial.memory)
    store(DType::bf16, memory.data() + 2 * 77, encode(DType::bf16, upper(any, 77)));
  trial.outcome.trace = any;
  EXPECT_EQ(trial.verdict().status, Status::pass);
  trial.outcome.trace = kept_in_f32();
  const Verdict verdict = trial.verdict();
  ASSERT_EQ(verdict.status, Status::wrong);
  EXPECT_THAT(verdict.facts[0].bound, testing::HasSubstr("at most 3 additions and 2 roundings"));
}

// Law: what passes with something said of the order passes without.
TEST(Bound, NobodyPassesByWhatHeSaysOfTheOrder) {
  for (const std::int64_t roundings : {1, 2, 3, 4, 9})
    for (int ulps = 0; ulps < 40; ++ulps) {
      Trial trial(rounding);
      for (auto& memory : trial.memory)
        store(DType::bf16, memory.data() + 2 * 5, load(DType::bf16, memory.data() + 2 * 5) + ulps);
      trial.outcome.trace = kept_in_f32();
      trial.outcome.trace[0].roundings = roundings;
      const bool said = trial.verdict().status == Status::pass;
      trial.outcome.trace[0].additions = trial.outcome.trace[0].roundings = 0;
      EXPECT_TRUE(!said || trial.verdict().status == Status::pass) << roundings << " " << ulps;
    }
}

// 64 parts in bf16: a part left out is inside the bound of any order, of every element, and outside of that
// of a sum that is rounded once.
TEST(Bound, OfANarrowOrderSeesAPartLeftOut) {
  const Trial trial("on x=64: einsum mk,kn->mn bf16[32,64@x] bf16[64@x,32] -> bf16[32,32] fill=normal");
  const auto outside = [&](std::int64_t roundings) {
    Outcome outcome;
    outcome.trace = kept_in_f32();
    outcome.trace[0].additions = 63, outcome.trace[0].roundings = roundings;
    const Bound bound = *bound_of({trial.c, trial.operands, trial.whole, trial.proof}, outcome, {});
    std::int64_t count = 0;
    for (std::int64_t e = 0; e < 1024; ++e) {
      const double left_out =
          value(trial.operands[0], e / 32 * 64 + 7) * value(trial.operands[1], 7 * 32 + e % 32);
      count += !within(bound, e, DType::bf16, encode(DType::bf16, value(bound.exact.value, e) - left_out));
    }
    return count;
  };
  EXPECT_EQ(outside(64), 0);
  EXPECT_GT(outside(2), 1024 / 3);
}

// A part is stored in the dtype of the result, however wide the wire.
TEST(Bound, PartsOfAnUnfinishedResultAreRounded) {
  Trial trial("on x=4: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,8] -> bf16[8,8]+x wire=f32 fill=normal");
  for (std::int64_t device = 0; device < 4; ++device) {
    std::vector<Tensor> own = trial.operands;
    for (std::int64_t e = 0; e < 8 * 64; ++e)
      if (e % 64 / 16 != device) store(DType::bf16, own[0].bytes.data() + 2 * e, 0);
    trial.memory[device] = evaluate(trial.c, own).bytes;
  }
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::pass) << verdict.facts.front().text;
}

// A product is rounded to f32 before it is rounded to bf16.
TEST(Bound, OneProductMayBeRoundedTwice) {
  Trial trial("on x=2: einsum m,n->mn f32[1024@x] f32[512] -> bf16[1024@x,512] fill=normal");
  bool twice = false;
  for (std::int64_t e = 0; e < 1024 * 512; ++e) {
    const float product = static_cast<float>(value(trial.operands[0], e / 512)) *
                          static_cast<float>(value(trial.operands[1], e % 512));
    const std::uint64_t got = encode(DType::bf16, product);
    twice |= got != bits(trial.whole, e);
    store(DType::bf16, trial.memory[e / (512 * 512)].data() + 2 * (e % (512 * 512)), got);
  }
  ASSERT_TRUE(twice) << "else nothing was tested";
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::pass) << verdict.facts.front().text;
}

TEST(Bound, OneThatAllowsZerosEverywhereIsMistrusted) {
  Trial trial("on x=2: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> bf16[4,4]");
  trial.declared.acc_unspecified = true;
  for (auto& memory : trial.memory) std::ranges::fill(memory, std::byte{0});
  EXPECT_EQ(trial.verdict().status, Status::mistrusted);
}

TEST(Bound, WithoutATraceASumThatDiffersIsNotCalledOneThatCouldNotBeWrong) {
  Trial trial("on x=2,y=2: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> bf16[4,4]");
  for (auto& memory : trial.memory) std::ranges::fill(memory, std::byte{0});
  trial.outcome.trace = {
      {.kind = "all-reduce", .axes = {"x"}}
  };
  EXPECT_EQ(trial.verdict().status, Status::wrong);
  trial.outcome.trace = {{.kind = "send"}};
  const Verdict verdict = trial.verdict();
  EXPECT_EQ(verdict.status, Status::mistrusted);
  EXPECT_THAT(
      verdict.facts.front().text,
      testing::HasSubstr("The trace does not say which devices add up what, and for any split the bound "
                         "would allow zeros everywhere"));
}

}  // namespace
}  // namespace plumb
