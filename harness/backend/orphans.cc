#include "harness/backend/orphans.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "harness/backend/processes.h"

namespace plumb {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds pause{2};
constexpr std::chrono::seconds longest_death{2};  // nobody can be killed who waits in the kernel

std::atomic<bool> adopts = false;

bool ended(const Running& r) { return r.state == 'Z' || r.state == 'X'; }

bool seen(const Started& s, const Running& r) {
  const auto at = s.seen.find(r.pid);
  return at != s.seen.end() && at->second == r.started;
}

// A program leads a group and so keeps our session: a dead child in another one is an orphan's, whosesoever.
bool dead_orphan(const Running& r) {
  return adopts && ended(r) && r.parent == ::getpid() && r.session != ::getsid(0);
}

// Whether a number is the program's, or of one that it started: a parent's, a group's or a session's, whose
// leader may have ended.
struct Numbers {
  const Started& s;
  std::map<pid_t, const Running*> there;
  Numbers(const Started& started, const std::vector<Running>& all) : s(started) {
    for (const Running& r : all) there[r.pid] = &r;
  }
  bool has(pid_t pid) const {
    if (pid == s.program) return true;
    if (!s.seen.contains(pid)) return false;
    const auto now = there.find(pid);
    return now == there.end() || seen(s, *now->second);
  }
};

// Those that are there.
std::vector<Running> look(Started& s) {
  const std::vector<Running> all = running_processes();
  const Numbers own(s, all);
  for (bool more = true; more;) {
    more = false;
    for (const Running& r : all) {
      if (r.pid == s.program || seen(s, r)) continue;
      const bool belongs = own.has(r.parent) || own.has(r.group) || own.has(r.session) || dead_orphan(r) ||
                           (!ended(r) && started_with(r.pid, program_variable, s.name));
      if (belongs) s.seen[r.pid] = r.started, more = true;
    }
  }
  std::vector<Running> there;
  for (const Running& r : all)
    if (seen(s, r)) there.push_back(r);
  return there;
}

bool live(const std::vector<Running>& there) {
  for (const Running& r : there)
    if (!ended(r)) return true;
  return false;
}

// Whether there was one to reap.
bool reap(const std::vector<Running>& there) {
  bool any = false;
  for (const Running& r : there)
    if (r.parent == ::getpid()) ::waitpid(r.pid, nullptr, WNOHANG), any = true;
  return any;
}

}  // namespace

void adopt_orphans() { adopts = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void look_for(Started& s) { look(s); }

void wait_for(Started& s, steady_clock::time_point until) {
  while (live(look(s)) && steady_clock::now() < until) std::this_thread::sleep_for(pause);
}

void end_started(Started& s) {
  const auto until = steady_clock::now() + longest_death;
  // Whoever is killed leaves orphans in turn.
  for (bool again = true; again && steady_clock::now() < until;) {
    const std::vector<Running> there = look(s);
    for (const Running& r : there) ::kill(r.pid, SIGKILL);
    const bool reaped = reap(there);
    again = reaped || live(there);
    if (again) std::this_thread::sleep_for(pause);
  }
}

}  // namespace plumb
