#include "harness/backend/orphans.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/backend/alive.h"
#include "harness/backend/fake.h"

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

}  // namespace
}  // namespace plumb
