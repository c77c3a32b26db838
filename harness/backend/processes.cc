#include "harness/backend/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

#include "adapters/protocol/fields.h"

namespace plumb {
namespace {

// Empty where the process has ended, or it is not for us to read. Streams would throw.
std::string read(pid_t pid, const char* file) {
  const int descriptor = ::open(fmt::format("/proc/{}/{}", pid, file).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return "";
  std::string all;
  std::array<char, 4096> chunk;
  for (ssize_t n = 0; (n = ::read(descriptor, chunk.data(), chunk.size())) > 0;) all.append(chunk.data(), n);
  ::close(descriptor);
  return all;
}

// "4121 (a name) S 4120 4121 4100 ...": pid, name, state, parent, group, session, and 16 further when it was
// started (proc(5)).
std::optional<Running> process(pid_t pid) {
  const std::string stat = read(pid, "stat");
  const std::size_t open = stat.find('('), close = stat.rfind(')');
  if (close == stat.npos || open > close) return std::nullopt;
  Running r;
  r.pid = pid;
  r.name = utf8(stat.substr(open + 1, close - open - 1));
  constexpr const char* numbers =
      " %c %d %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu";
  if (std::sscanf(stat.c_str() + close + 1, numbers, &r.state, &r.parent, &r.group, &r.session, &r.started) !=
      5)
    return std::nullopt;
  return r;
}

struct Call {
  long number;
  const char* name;
};

// Those in which a program waits.
constexpr Call calls[] = {
    {SYS_read,            "read"           },
    {SYS_write,           "write"          },
    {SYS_readv,           "readv"          },
    {SYS_writev,          "writev"         },
    {SYS_recvfrom,        "recvfrom"       },
    {SYS_recvmsg,         "recvmsg"        },
    {SYS_sendto,          "sendto"         },
    {SYS_sendmsg,         "sendmsg"        },
    {SYS_accept,          "accept"         },
    {SYS_accept4,         "accept4"        },
    {SYS_connect,         "connect"        },
    {SYS_flock,           "flock"          },
    {SYS_fcntl,           "fcntl"          },
    {SYS_futex,           "futex"          },
    {SYS_ppoll,           "ppoll"          },
    {SYS_pselect6,        "pselect"        },
    {SYS_wait4,           "wait4"          },
    {SYS_waitid,          "waitid"         },
    {SYS_nanosleep,       "nanosleep"      },
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_rt_sigsuspend,   "sigsuspend"     },
    {SYS_rt_sigtimedwait, "sigtimedwait"   },
    {SYS_epoll_pwait,     "epoll_wait"     },
#ifdef SYS_poll
    {SYS_poll,            "poll"           },
    {SYS_select,          "select"         },
    {SYS_pause,           "pause"          },
    {SYS_epoll_wait,      "epoll_wait"     },
#endif
};
constexpr std::string_view of_a_descriptor =
    "read write readv writev recvfrom recvmsg sendto sendmsg accept accept4 "
    "connect flock fcntl";

// "read(3)", of "0 0x3 0x7f... ...": the number of the call, and its arguments.
std::string call_in_words(const std::string& syscall) {
  char* rest = nullptr;
  const long number = std::strtol(syscall.c_str(), &rest, 10);
  if (rest == syscall.c_str() || number < 0) return "";
  const auto* call = std::ranges::find(calls, number, &Call::number);
  if (call == std::end(calls)) return fmt::format("system call {}", number);
  if (of_a_descriptor.find(call->name) == of_a_descriptor.npos) return call->name;
  return fmt::format("{}({})", call->name, std::strtol(rest, nullptr, 16));
}

// What a process waits in: its system call and, where the kernel says more, the place in the kernel.
std::string waits_in(pid_t pid) {
  std::string call = call_in_words(read(pid, "syscall")), place = read(pid, "wchan");
  if (place == "0") place.clear();
  if (call.empty() || place.empty()) return call + place;
  return call + ", " + place;
}

std::string state_in_words(const Running& r) {
  switch (r.state) {
    case 'R':
      return "runs";
    case 'T':
    case 't':
      return "is stopped";
    case 'Z':
    case 'X':
      return "has ended, and nobody waited for it";
    default:
      break;
  }
  const std::string where = waits_in(r.pid);
  return (r.state == 'D' ? "waits, and no signal wakes it" : "waits") + (where.empty() ? "" : " in " + where);
}

struct Tree {
  std::vector<Running> all;
  std::set<pid_t> shown;
  std::vector<std::string> lines;

  void add(const Running& r, std::size_t depth) {
    if (!shown.insert(r.pid).second) return;
    lines.push_back(
        fmt::format("{}{} {}: {}", std::string(2 * depth, ' '), r.pid, r.name, state_in_words(r)));
    for (const Running& child : all)
      if (child.parent == r.pid) add(child, depth + 1);
  }
};

}  // namespace

std::vector<Running> running_processes() {
  std::vector<Running> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    if (auto r = process(pid)) found.push_back(std::move(*r));
  }
  return found;
}

bool started_with(pid_t pid, const std::string& variable, const std::string& value) {
  const std::string all = '\0' + read(pid, "environ");
  return all.find(fmt::format("{}{}={}{}", '\0', variable, value, '\0')) != all.npos;
}

std::vector<std::string> process_tree(pid_t program, const std::string& name) {
  Tree tree{running_processes(), {}, {}};
  const std::vector<Running> all = tree.all;
  for (const Running& r : all)
    if (r.pid == program) tree.add(r, 0);
  for (const Running& r : all)
    if (r.group == program || started_with(r.pid, program_variable, name)) tree.add(r, 0);
  return tree.lines;
}

}  // namespace plumb
