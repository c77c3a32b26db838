#include "harness/backend/orphans.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

namespace plumb {
namespace {

std::atomic<bool> adopts = false;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Started {
  pid_t pid = 0, group = 0, session = 0;
  bool dead = false;
};

// "4121 (a name) S 4120 4121 4100 ...": pid, name, state, parent, group, session (proc(5)).
std::vector<Started> children() {
  std::vector<Started> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    Started s;
    if (std::sscanf(entry.path().filename().c_str(), "%d", &s.pid) != 1) continue;
    const std::string stat = read(entry.path() / "stat");
    char state = 0;
    pid_t parent = 0;
    const char* behind = stat.c_str() + std::min(stat.rfind(')'), stat.size() - 1) + 1;
    if (std::sscanf(behind, " %c %d %d %d", &state, &parent, &s.group, &s.session) != 4) continue;
    s.dead = state == 'Z';
    if (parent == ::getpid()) found.push_back(s);
  }
  return found;
}

bool started_by(const std::string& name, pid_t pid) {
  const std::string all = read(fmt::format("/proc/{}/environ", pid));
  return ('\0' + all).find(fmt::format("{}{}={}{}", '\0', program_variable, name, '\0')) != all.npos;
}

}  // namespace

void adopt_orphans() { adopts = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void end_started(pid_t program, const std::string& name) {
  // Whoever is killed leaves orphans in turn. A program leads a group and so keeps our session: a dead child
  // in another one is an orphan's, whosesoever.
  for (bool again = adopts; again;) {
    again = false;
    for (const Started& s : children()) {
      if (s.pid == program) continue;
      const bool its = s.group == program || (!s.dead && started_by(name, s.pid));
      if (its) ::kill(s.pid, SIGKILL);
      if (its || (s.dead && s.session != ::getsid(0))) again |= ::waitpid(s.pid, nullptr, 0) == s.pid;
    }
  }
}

}  // namespace plumb
