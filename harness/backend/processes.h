// The processes of the machine, as /proc shows them. Any of them may end while it is looked at: it is left
// out then, or what it can no longer say is.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace plumb {

struct Running {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  unsigned long long started = 0;  // in ticks since the machine was: with the pid it is one process for ever
  char state = '?';  // R runs, S and D wait, T is stopped, Z has ended and is not reaped (proc(5))
  std::string name;
};

std::vector<Running> running_processes();

// The environment variable whose value names a program among all that were started.
inline constexpr const char* program_variable = "PLUMB_PROGRAM";

// Whether a process was started with VARIABLE=VALUE in its environment; false where that cannot be read.
bool started_with(pid_t, const std::string& variable, const std::string& value);

// A program and all that it started, a line each, children below their parents:
//   4121 python3: waits in read(3)
//     4130 worker: runs
// What it started is known by its parent, by its group, or by the name in its environment (program_variable).
std::vector<std::string> process_tree(pid_t program, const std::string& name);

}  // namespace plumb
