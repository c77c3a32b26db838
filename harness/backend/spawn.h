// Starting a program with its channel.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace plumb {

// The descriptors are the parent's and its to close. `printed` holds what the program writes to its
// standard output and standard error.
struct Spawned {
  pid_t pid = -1;
  int requests = -1, replies = -1, printed = -1;
};

// Throws std::system_error. The program gets the environment of this process, with `env` and the two
// variables of the channel added; it is killed when the calling thread ends.
Spawned spawn(const std::vector<std::string>& argv,
              const std::vector<std::pair<std::string, std::string>>& env);

// The file that execvp would run for `program`, or "" where there is none.
std::string find_program(const std::string& program);

}  // namespace plumb
