#include "harness/run/ask.h"

#include <gtest/gtest.h>

#include "harness/backend/testing/fake.h"
#include "harness/run/measured.h"

namespace plumb {
namespace {

std::vector<std::byte> block_of(const Attempt& made, std::size_t device) {
  const Block& block = std::get<Outcome>(made.answer).blocks[device];
  std::vector<std::byte> bytes(block.bytes);
  made.read(block, bytes);
  return bytes;
}

TEST(Ask, EveryAttemptKeepsItsBlocks) {
  Process process(fake({}));
  const Attempts made = ask(gather(" seed=3"), process, {2});
  ASSERT_TRUE(made.other);
  ASSERT_EQ(made.again.size(), 2U);
  EXPECT_EQ(made.other->c.seed, 4U);
  EXPECT_NE(made.first.operands[0].bytes, made.other->operands[0].bytes);
  for (std::size_t device : {0, 1}) {
    EXPECT_EQ(block_of(made.first, device), made.first.operands[0].bytes);
    EXPECT_EQ(block_of(*made.other, device), made.other->operands[0].bytes);
    for (const Attempt& again : made.again) EXPECT_EQ(block_of(again, device), made.first.operands[0].bytes);
  }
}

TEST(Ask, OnceIsEnoughWhereNothingCanDiffer) {
  const auto once = [](const Attempts& made) { return !made.other && made.again.empty(); };
  Process honest(fake({}));
  EXPECT_TRUE(once(ask(gather(), honest, {0})));
  Process plans(fake({"hello", R"([{"op":"add","path":"/capabilities/data","value":"none"}])"}));
  EXPECT_TRUE(once(ask(gather(), plans, {2})));
  Process dies(fake({"die", "6"}));
  EXPECT_TRUE(once(ask(gather(), dies, {2})));
}

// On the data of the first, which has come and gone, it dies.
TEST(Ask, ARerunThatGivesNoResultIsTheLast) {
  Process process(fake({"on", "3", "sleep", "0", "reply", R"([{"op":"test","path":"/id","value":1}])"}));
  const Attempts made = ask(gather(" seed=3"), process, {5});
  ASSERT_TRUE(std::holds_alternative<Outcome>(made.first.answer));
  ASSERT_EQ(made.again.size(), 1U);
  EXPECT_FALSE(std::holds_alternative<Outcome>(made.again[0].answer));
}

TEST(Ask, AProgramThatNeverStartedPromisesNothing) {
  Process process(fake({"hello", R"([{"op":"add","path":"/capabilities/clones","value":true}])"}));
  EXPECT_FALSE(declared(process).clones);
  ask(gather(), process, {0});
  EXPECT_TRUE(declared(process).clones);
}

// Of a case that was timed: the program ended while its first result was proved, so that the last is there
// and not proved.
TEST(Ask, WhereTheFirstResultIsLostTheLastSaysNothing) {
  Process process(fake({}));
  TimedAttempts made{
      {.c = gather(), .answer = Crashed{"it has died", "run", ""}},
      ask(gather(), process, {0            }
      ).first
  };
  made.last.operands.clear();
  EXPECT_EQ(judged_under_the_clock(made, {}).verdict.status, Status::crashed);
}

}  // namespace
}  // namespace plumb
