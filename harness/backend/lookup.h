// From the name of a backend to the program that is it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/backend/process.h"
#include "harness/backend/rows.h"

namespace plumb {

// NAME[@RELEASE][,option=value...], or a command where what stands before the first comma has a slash or
// a space; its options stand behind the first of its words that is a file. The name of the result is
// canonical: options sorted, defaults dropped, the newest release where none is named; a command is its own
// name. Throws BadInput, which says what to do, where the backend is unknown or cannot run here.
//   local,plan=direct                     local
//   jax,style=explicit,partitioner=gspmd  jax@0.10.2,partitioner=gspmd,style=explicit
//   jax@here                              jax@0.11.0                 what the Python of this very environment has
//   ./mine,plan=ring --flag               ./mine,plan=ring --flag    the words ./mine --flag, the option plan
//   python3 mine.py,plan=ring             python3 mine.py,plan=ring
//   ./mine --mesh dp=2,tp=4               ./mine --mesh dp=2,tp=4    no option: dp=2 is no file
Command find_backend(std::string_view backend);

// The row of a backend by its name alone. Throws BadInput where there is none.
const BackendRow& row_named(std::string_view name);

// A row of `plumb backends`.
struct Known {
  std::string name;  // "local", "jax@0.9.1"
  std::string what;  // one phrase
  bool available = false;
  std::string mend;  // the command that makes it available, or what is missing; empty where it is
};
std::vector<Known> known_backends();

}  // namespace plumb
