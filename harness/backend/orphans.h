// What a program started and did not end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>

namespace plumb {

// From now on the orphans of this process's descendants become its children, and end_started() reaps them.
void adopt_orphans();

// What a program, its own number aside, was seen to have started: its descendants, who is in a group or
// session of any of them, and who was started with its name in the environment. A number that another
// process has since stands for nobody: it was started at another time.
struct Started {
  pid_t program = -1;
  std::string name;
  std::map<pid_t, unsigned long long> seen{};  // by number, when it was started
};

// Sees who is there now. Only who left group and session, lost the name, and whose parent had ended before it
// was first seen stays unseen.
void look_for(Started&);

// Waits until all of them have ended, or the time is over.
void wait_for(Started&, std::chrono::steady_clock::time_point);

// Kills them, and reaps those that are children of this process. The program has ended, and is not reaped.
void end_started(Started&);

}  // namespace plumb
