#include "harness/backend/orphans.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "harness/backend/processes.h"

namespace plumb {
namespace {

std::atomic<bool> adopts = false;

}  // namespace

void adopt_orphans() { adopts = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void end_started(pid_t program, const std::string& name) {
  // Whoever is killed leaves orphans in turn. A program leads a group and so keeps our session: a dead child
  // in another one is an orphan's, whosesoever.
  for (bool again = adopts; again;) {
    again = false;
    for (const Running& r : running_processes()) {
      if (r.parent != ::getpid() || r.pid == program) continue;
      const bool dead = r.state == 'Z';
      const bool its = r.group == program || (!dead && started_with(r.pid, program_variable, name));
      if (its) ::kill(r.pid, SIGKILL);
      if (its || (dead && r.session != ::getsid(0))) again |= ::waitpid(r.pid, nullptr, 0) == r.pid;
    }
  }
}

}  // namespace plumb
