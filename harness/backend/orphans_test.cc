#include "harness/backend/orphans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

// A process of its own, since it takes the orphans of all that it starts. The daemon and its child are in
// another session; one that none of our programs started stays.
TEST(Orphans, ADaemonDiesWithTheProgramThatStartedIt) {
  const pid_t harness = ::fork();
  if (harness == 0) {
    adopt_orphans();
    const pid_t stranger = ::fork();
    if (stranger == 0) ::setsid(), ::pause();
    for (const char* end : {"exit", "none"}) {
      Process process(fake({"daemon", "1", "print", "a-daemon-of-a-program", end, "3"}));
      process.run(gather(), operands());
    }
    const bool left = !running("a-daemon-of-a-program").empty(), stays = alive(stranger);
    ::kill(stranger, SIGKILL);
    ::waitpid(stranger, nullptr, 0);
    const bool none = ::waitpid(-1, nullptr, WNOHANG) < 0;  // no zombies
    ::_exit((left ? 1 : 0) + (stays ? 0 : 2) + (none ? 0 : 4));
  }
  int status = 0;
  ::waitpid(harness, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (pid_t pid : running("a-daemon-of-a-program")) ::kill(pid, SIGKILL);
}

// Processes that start and end without a pause, four at a time, while this object lives.
struct Churn {
  std::vector<pid_t> churning;
  Churn() {
    for (int i = 0; i < 4; ++i) {
      churning.push_back(::fork());
      if (churning.back() == 0) churn();
    }
  }
  [[noreturn]] static void churn() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) {
      const pid_t one = ::fork();
      if (one == 0) ::_exit(0);
      ::waitpid(one, nullptr, 0);
    }
  }
  ~Churn() {
    for (const pid_t pid : churning) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0);
  }
};

// Whoever ends while /proc is read ends no run. A process of its own, as above.
TEST(Orphans, OtherProcessesMayEndAtAnyTime) {
  const Churn churn;
  const pid_t harness = ::fork();
  if (harness == 0) {
    adopt_orphans();
    int failures = 0;
    for (int i = 0; i < 1500; ++i) try {
        Started none{0x7fffffff, "nobody's"};
        end_started(none);
      } catch (const std::exception&) {
        ++failures;
      }
    ::_exit(std::min(failures, 100));
  }
  int status = 0;
  ::waitpid(harness, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// "PID NAME: STATE", where what a program started stands below it.
TEST(Processes, AreShownAsATreeWithWhatTheyWaitIn) {
  const auto lines = [](const Faults& faults) {
    Process process(fake(faults), {.start = 60, .compile = 1, .run = 60});
    return expect<Hung>(process.run(gather(), operands())).processes;
  };
  EXPECT_THAT(lines({"sleep", "60"}),
              testing::ElementsAre(testing::MatchesRegex("[0-9]+ plumb-fake: waits in .*nanosleep.*")));
  EXPECT_THAT(lines({"child", "1", "sleep", "60"}),
              testing::ElementsAre(testing::MatchesRegex("[0-9]+ plumb-fake: waits.*"),
                                   testing::MatchesRegex("  [0-9]+ plumb-fake: waits in .*pause.*")));
  EXPECT_THAT(lines({"stop", "1"}), testing::ElementsAre(testing::HasSubstr("is stopped")));
  EXPECT_THAT(lines({"spin", "1"}), testing::ElementsAre(testing::HasSubstr("runs")));
}

}  // namespace
}  // namespace plumb
