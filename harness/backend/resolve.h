// From the name of a backend to the program that is it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/backend/process.h"

namespace plumb {

// NAME[@RELEASE][,option=value...], or a command where the text has a slash or a space. The name of the
// result is canonical: options sorted, defaults dropped; a command is its own name. Throws BadInput,
// which says what to do, where the backend is unknown or cannot run here.
Command resolve(std::string_view backend);

// A row of `plumb backends`.
struct Known {
  std::string name;  // "local", "jax@0.9.1"
  std::string what;  // one phrase
  bool available = false;
  std::string mend;  // the command that makes it available; empty where it is
};
std::vector<Known> known_backends();

}  // namespace plumb
