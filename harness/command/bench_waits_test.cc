// What plumb bench says while nothing is known yet. No time is measured here, and each wait for a word of the tool ends with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "harness/command/testing/timed.h"

namespace plumb {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// What it has said on standard error once that has such words, or after two minutes; then it is interrupted.
std::string said_by_then(const Folder& folder, pid_t child, const std::string& words) {
  const auto said = [&] { return contents(folder.path / "err"); };
  for (int i = 0; i < 1200 && said().find(words) == std::string::npos; ++i) ::usleep(100'000);
  const std::string all = said();
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << all;
  return all;
}

// All beside each other: one that times, what is asked in the place of times, a backend that does not start, and one that
// is to say nothing, which has as long.
TEST(Bench, ARequestThatIsLongIsSaidWithItsDeadlineAfterFiveSeconds) {
  const std::string deaf = fake("took 1000,1000 sleep 600") + line + " --timeout 500",
                    of = "plumb: waiting for .*, [0-9]+ s in (compile|run|start) of 500 at most: on x=2: reshard";
  const Folder times, clock, links, soak, start, silent;
  const std::pair<const Folder*, std::string> rows[] = {
      {&times, deaf}, {&clock, deaf + " --clock"}, {&links, deaf + " --links 1/1"}, {&soak, deaf + " --soak 1h"},
      {&start, fake("nap 600") + line + " --timeout 500"}};
  const pid_t quiet = started(silent, deaf + " --quiet");
  std::vector<pid_t> children;
  for (const auto& [folder, command] : rows) children.push_back(started(*folder, command));
  for (std::size_t i = 0; i < std::size(rows); ++i)
    EXPECT_THAT(said_by_then(*rows[i].first, children[i], "plumb: waiting for "), ContainsRegex(of)) << rows[i].second;
  ::kill(quiet, SIGINT);
  ::waitpid(quiet, nullptr, 0);
  EXPECT_THAT(contents(silent.path / "err"), Not(HasSubstr("waiting")));
}

// What a run asks beside its cases is said by its own line.
TEST(Run, AQuestionThatIsLongIsSaidByItsLine) {
  const Folder folder;
  const pid_t child = started(folder, "run --backend liar,fault=hangs-on-questions --timeout 500 "
                                      "'on x=2: einsum mk,kn->mn f32[4@x,64] f32[64,4] -> f32[4@x,4] fill=normal'");
  EXPECT_THAT(said_by_then(folder, child, "plumb: waiting for "),
              ContainsRegex("s in (compile|run) of [0-9]+ at most: how its engine adds up, by on x=1: einsum mk,kn->mn "
                            "f32.[0-9]+,64. f32.64,16. -> "));
}

// Of 500,000 warm-ups, each half a millisecond as two iterations showed that began so far apart: four times as long, and what a run
// has besides.
TEST(Bench, WarmUpsAreInTheDeadlineThatIsSaid) {
  const Folder folder;
  const pid_t child = started(folder, fake("took 1000,1000 each 0.001") + line + " --warmups 500000 --iterations 2 --timeout 100");
  EXPECT_THAT(said_by_then(folder, child, "plumb: waiting for "), ContainsRegex("s in (compile|run) of 1101 at most: "));
}

// Each request is short, and a repetition of many takes long: a log says so after ten seconds.
TEST(Bench, HowFarARepetitionIsIsSaid) {
  const Folder folder;
  const pid_t child = started(folder, fake("took 1000,1000 late -1 sleep 0.01") + line + " --sync window --iterations 1 --budget 5000");
  EXPECT_THAT(said_by_then(folder, child, "repetitions"),
              ContainsRegex("plumb: after [0-9]+ s: 0/5 repetitions; [0-9]+ iterations of .*  on x=2: reshard"));
}

}  // namespace
}  // namespace plumb
