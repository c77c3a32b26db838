// What a program started and did not end.
#pragma once

#include <sys/types.h>

#include <string>

namespace plumb {

// From now on the orphans of this process's descendants become its children, and end_started() finds them.
void adopt_orphans();

// The environment variable whose value names a program among all that were started.
inline constexpr const char* program_variable = "PLUMB_PROGRAM";

// Kills and reaps what a program that has ended, and is not reaped, left behind: children of this process
// that are of its group, or were started with its name in their environment. Nothing before adopt_orphans().
void end_started(pid_t program, const std::string& name);

}  // namespace plumb
