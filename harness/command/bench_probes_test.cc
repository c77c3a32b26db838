// What plumb bench asks in the place of times. No time is measured here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

#include "harness/command/testing/timed.h"

namespace plumb {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// What links took by then is shown and recorded.
TEST(Bench, CtrlCKeepsTheLinksThatWereTried) {
  const Folder folder;
  interrupt_after(3, "timed", folder,
                  fake("took 1000,1000 links 1000 each 0.02") + line + " --links 1/1 --record r.jsonl");
  EXPECT_THAT(contents(folder.path / "out"), HasSubstr("UNSURE  it was interrupted"));
  const auto all = lines_of(folder.path / "r.jsonl");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["bench"]["links"].size(), 1U);
}

TEST(Bench, ASoakThatIsWrongNamesTheIteration) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 1000,1000 spoil last") + line + " --soak 60s --record r.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("iteration 1, rank 0: wrong: "));
  EXPECT_THAT(ran.out, HasSubstr("0 iterations proved"));
  EXPECT_EQ(lines_of(folder.path / "r.jsonl").back()["status"], "wrong");
}

TEST(Bench, ASoakNamesTheIterationInWhichABackendEnds) {
  const Folder folder;
  for (int n = 1; n <= 6; ++n) {
    const Ran ran = run_tool(folder, fake("took 1000,1000 ends-at " + std::to_string(n)) + line + " --soak 1h");
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out, HasSubstr("\n    iteration " + std::to_string(n) + ": crashed: "));
    EXPECT_THAT(ran.out, HasSubstr(": " + std::to_string(n - 1) + " iterations proved"));
  }
}

// Of few seconds each case has its share; what had none is not right.
TEST(Bench, ASoakGivesEveryCaseItsShare) {
  const Folder folder;
  const std::string two = fake("took 1000,1000") + line + " 'on x=2: reshard f32[8@x] -> f32[8] seed=1'";
  const Ran ran = run_tool(folder, two + " --soak 6s");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out, Not(HasSubstr(" 0 iterations proved")));
  const Ran none = run_tool(folder, two + " --soak 0.000000001s");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.out, HasSubstr("unrun  "));
  EXPECT_THAT(none.out, HasSubstr(": 0 iterations proved"));
}

// What was proved by then is said, and is in the record.
TEST(Bench, CtrlCSaysWhatASoakHasProved) {
  const Folder folder;
  interrupt_after(4, "bench", folder,
                  fake("took 1000,1000 each 0.02") + line + " --soak 10m --record r.jsonl");
  EXPECT_THAT(contents(folder.path / "out"), ContainsRegex("right  .*: [1-9][0-9]* iterations proved"));
  EXPECT_EQ(lines_of(folder.path / "r.jsonl").size(), 1U);
}

// Once the first of two cases has its line there is no room for another: what was proved is said, and no line is torn. The
// record is longer than the arena, for which there is as little room.
TEST(Bench, AFullDiskDuringASoakIsSaidAndLosesNothing) {
  const Folder folder;
  run_tool(folder, fake("took 1000,1000") + line + " --iterations 10000 --repetitions 2 --record r.jsonl");
  const auto timed = std::ranges::count(contents(folder.path / "r.jsonl"), '\n');
  const auto before = ::signal(SIGXFSZ, SIG_IGN);  // as a program inherits it, so that it hears of the error
  const pid_t child = started(folder, fake("took 1000,1000") + line +
                                          " 'on x=2: reshard f32[8@x] -> f32[8] seed=1' --soak 6s --record r.jsonl");
  ::signal(SIGXFSZ, before);
  std::string whole;
  for (int i = 0; i < 1200 && std::ranges::count(whole, '\n') < timed + 2; ++i)
    ::usleep(10'000), whole = contents(folder.path / "r.jsonl");
  const rlimit room{whole.size() + 100, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(child, RLIMIT_FSIZE, &room, nullptr), 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
  EXPECT_THAT(contents(folder.path / "err"), HasSubstr("plumb: r.jsonl: File too large"));
  EXPECT_THAT(contents(folder.path / "out"), ContainsRegex("right  .*: [1-9][0-9]* iterations proved\nright  .*seed=1: [1-9]"));
  EXPECT_EQ(contents(folder.path / "r.jsonl"), whole);
}

// Both beside each other: what is said is said after ten seconds.
TEST(Bench, ASoakSaysHowFarItIs) {
  const Folder folder, silent;
  const std::string soak = fake("took 1000,1000") + line + " --soak 11s";
  const pid_t quiet = started(silent, soak + " --quiet");
  const Ran ran = run_tool(folder, soak);
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.err,
              ContainsRegex("plumb: after [0-9]+ s: [0-9]+ iterations of 1 case proved, [0-9]+ s left"));
  int status = 0;
  ::waitpid(quiet, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_THAT(contents(silent.path / "err"), Not(HasSubstr("left")));
}

}  // namespace
}  // namespace plumb
