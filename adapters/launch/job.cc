#include "adapters/launch/job.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "adapters/launch/command.h"
#include "adapters/launch/wire.h"
#include "adapters/protocol/fabric.h"

extern char** environ;

namespace plumb::launch {
namespace {

constexpr std::chrono::seconds grace{3};

// Root is refused, and ranks beyond the cores, unless these say that both are meant; what mpiexec has to say
// of a signal that it passes on is no last word of a rank; what the library keeps in files and in memory that
// is shared lies where it is removed with the rest. Where no fabric is, mpiexec looks for no devices either.
Variables of_the_library(const Asked& asked) {
  Variables all{
      {"OMPI_ALLOW_RUN_AS_ROOT",                "1"             },
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",        "1"             },
      {"OMPI_MCA_rmaps_base_oversubscribe",     "1"             },
      {"OMPI_MCA_ess_base_forward_signals",     "none"          },
      {"PRTE_ALLOW_RUN_AS_ROOT",                "1"             },
      {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",        "1"             },
      {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"}
  };
  if (const char* folder = std::getenv("TMPDIR")) {
    all.emplace_back("OMPI_MCA_btl_vader_backing_directory", folder);
    // On another machine there is no such folder; and UCX has 63 bytes for it and what else is in an address.
    constexpr std::size_t longest = 40;
    if (asked.interface.empty() && std::strlen(folder) <= longest && !std::getenv("UCX_POSIX_DIR"))
      all.emplace_back("UCX_POSIX_DIR", folder);
  }
  if (!has_fabric() && by_open_mpi(asked))
    for (const auto& [name, value] : hwloc_without_devices)
      if (!std::getenv(name)) all.emplace_back(name, value);
  return all;
}

struct Exec {
  std::vector<std::string> argv, env;
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment(const Variables& added) {
  std::vector<std::string> out;
  for (char** e = environ; *e; ++e) {
    const std::string entry = *e;
    bool replaced = entry.starts_with("PLUMB_REQUESTS=") || entry.starts_with("PLUMB_REPLIES=");
    for (const auto& [name, value] : added) replaced |= entry.starts_with(name + "=");
    if (!replaced) out.push_back(entry);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  return out;
}

pid_t spawn_one(const Exec& e) {
  const std::vector<char*> argv = pointers(e.argv), env = pointers(e.env);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) fail("starting a rank");
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::setpgid(0, 0);
  ::execvpe(argv[0], argv.data(), env.data());
  ::dprintf(2, "plumb-launch: %s: %s\n", argv[0], ::strerror(errno));
  ::_exit(127);
}

// Of a process, whose number the kernel lists for each of its threads.
std::vector<pid_t> children(const std::string& process = "self") {
  std::vector<pid_t> all;
  for (const std::string& thread : entries_of("/proc/" + process + "/task")) {
    std::ifstream file(thread + "/children");
    for (pid_t pid; file >> pid;) all.push_back(pid);
  }
  return all;
}

bool is_stopped(pid_t pid) {
  siginfo_t how = {};
  return ::waitid(P_PID, static_cast<id_t>(pid), &how, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         how.si_pid == pid;
}

using Meanwhile = std::function<void()>;

bool reap_until(std::chrono::steady_clock::time_point until, const Meanwhile& meanwhile) {
  while (true) {
    meanwhile();
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0 && errno == ECHILD) return true;
    if (pid == 0) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

}  // namespace

Job start(const Asked& asked, const Variables& variables, const std::string& file) {
  Variables added = of_the_library(asked);
  Passed passed{{}, file};
  for (const auto& one : variables) added.push_back(one), passed.names.push_back(one.first);
  Job job{{}, one_by_one(asked) ? "" : first_program(asked), cancel_line(asked, passed)};
  if (!one_by_one(asked)) {
    job.pids.push_back(spawn_one({command(asked, passed), environment(added)}));
    return job;
  }
  added.emplace_back("PLUMB_WORLD", std::to_string(asked.ranks));
  added.emplace_back("PLUMB_RANK", "");
  for (; passed.rank < asked.ranks; ++passed.rank) {
    added.back().second = std::to_string(passed.rank);
    job.pids.push_back(spawn_one({command(asked, passed), environment(added)}));
  }
  return job;
}

void end(const Job& job, std::chrono::milliseconds patience, const std::function<void()>& meanwhile) {
  if (reap_until(std::chrono::steady_clock::now() + patience, meanwhile)) return;
  for (pid_t pid : job.pids) {
    ::kill(pid, SIGTERM);
    if (is_stopped(pid)) ::kill(pid, SIGCONT);
  }
  bool gone = reap_until(std::chrono::steady_clock::now() + grace, meanwhile);
  if (!gone && !job.cancel.empty()) {
    const int ran = std::system(("{ " + job.cancel + "; } >/dev/null 2>&1").c_str());
    if (ran == 0) gone = reap_until(std::chrono::steady_clock::now() + std::chrono::seconds(1), meanwhile);
  }
  // Whoever is killed leaves orphans, and this process adopts them.
  for (int again = 0; !gone && again < 1000; ++again) {
    for (pid_t pid : children()) ::kill(pid, SIGKILL);
    gone = reap_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(10), meanwhile);
  }
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> all;
  std::error_code gone;
  std::filesystem::directory_iterator entry(folder, gone);
  for (const std::filesystem::directory_iterator end; !gone && entry != end; entry.increment(gone))
    all.push_back(entry->path());
  return all;
}

std::vector<pid_t> descendants() {
  std::vector<pid_t> all = children();
  for (std::size_t i = 0; i < all.size(); ++i)
    std::ranges::copy(children(std::to_string(all[i])), std::back_inserter(all));
  return all;
}

std::string ended(const Job& job, std::optional<std::int64_t> rank) {
  const bool alone = rank && job.command.empty();
  for (std::size_t i = 0; i < job.pids.size(); ++i) {
    siginfo_t how = {};
    if (alone && std::cmp_not_equal(i, *rank)) continue;
    if (::waitid(P_PID, static_cast<id_t>(job.pids[i]), &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        how.si_pid == 0)
      continue;
    const std::string who = job.command.empty() ? fmt::format("rank {}", i) : job.command;
    if (how.si_code == CLD_EXITED) return fmt::format("{} exited with code {}", who, how.si_status);
    return fmt::format("{} was killed by signal {} ({})", who, how.si_status, ::strsignal(how.si_status));
  }
  return "";
}

}  // namespace plumb::launch
