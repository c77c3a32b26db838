// Proofs in place against the judge, over all suites: they agree on every case whose blocks can be proved.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "harness/judge/testing/trial.h"
#include "reference/check/check.h"
#include "suites/testing/sampled.h"

namespace plumb {
namespace {

constexpr std::int64_t kMostElements = 1 << 16;  // of an operand with its parts, or the result

std::int64_t largest_array(const Case& c) {
  std::int64_t most = elements(result(c));
  for (const Spec& spec : c.op.operands) most = std::max(most, elements(spec) * parts(c.mesh, spec));
  return most * devices(c.mesh);
}

bool small(const Case& c) { return !is_resolve(c) && largest_array(c) <= kMostElements; }

Case closed(Case c) {
  for (Spec& spec : c.op.chain) spec.free = false;
  return c;
}

bool refuted(const Prover& made, const Trial& trial) {
  bool any = false;
  for (std::size_t device = 0; device < trial.memory.size(); ++device) {
    const Slice slice = block(trial.c.mesh, result(trial.c), trial.c.rule, static_cast<std::int64_t>(device));
    const Proof proof = prove(made, {0, slice, trial.memory[device]}, device);
    EXPECT_NE(proof.answer, Proof::Answer::unprovable);
    any |= proof.answer == Proof::Answer::refuted;
  }
  return any;
}

bool judged_wrong(const Trial& trial) {
  return std::ranges::any_of(trial.verdict().facts, [](const Fact& fact) {
    return fact.status == Status::wrong || fact.status == Status::leaked;
  });
}

// Flips a drawn bit of a drawn element of a drawn device; returns whether there is one.
bool plant(Trial& trial, std::mt19937_64& random) {
  std::vector<std::byte>& bytes = trial.memory[random() % trial.memory.size()];
  if (bytes.empty()) return false;
  bytes[random() % bytes.size()] ^= std::byte{1} << random() % 8;
  return true;
}

TEST(ProofInPlace, AgreesWithTheJudgeOnEverySuite) {
  std::mt19937_64 random(1);
  int proved = 0, planted = 0, seen = 0;
  for (const Case& one : sampled(60, small)) {
    const Case c = closed(one);
    const Prover made = prover(c);
    if (!made.unprovable.empty()) continue;
    Trial trial(print(c));
    ASSERT_FALSE(judged_wrong(trial) || refuted(made, trial)) << print(c);
    ++proved;
    if (!plant(trial, random)) continue;
    const bool wrong = judged_wrong(trial);  // but for the other zero
    ASSERT_EQ(refuted(made, trial), wrong) << print(c);
    ++planted, seen += wrong;
  }
  RecordProperty("proved", proved), RecordProperty("planted", planted), RecordProperty("seen", seen);
  EXPECT_GE(proved, 300);
  EXPECT_GE(seen, 200);
  EXPECT_LE(planted - seen, planted / 50);
}

// What the suites hold and no block proves says why, and its certificate or its operands do not let it.
TEST(ProofInPlace, EveryExactCaseHasOneUnlessItQuantizesOrIsLeftUnfinished) {
  for (const Case& one : sampled(60, small)) {
    const Case c = closed(one);
    const bool exact = certificate(c).scope != Certificate::Scope::none;
    const bool may = exact && !quantizes(c.op) && parts(c.mesh, result(c)) == 1;
    EXPECT_EQ(prover(c).unprovable.empty(), may) << print(c) << "\n" << prover(c).unprovable;
  }
}

}  // namespace
}  // namespace plumb
