// A program that is a backend, and who hears of it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/capabilities.h"

namespace plumb {

// How to start a backend.
struct Command {
  std::string name;  // the key of its records
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> options;  // reach the program as PLUMB_OPTIONS
  double grace = 0;                                          // seconds between SIGTERM and SIGKILL
  std::string asked{};  // what finds it again: the name, with the options that are no part of it
};

// A hash of the files that its words name, 16 hexadecimal digits: of a program that was built anew it is
// another. Empty where the name has a release, which says what runs, and where no file is named.
std::string files_hash(const Command&);

// Told of each hello, when it is heard.
using Greeted = std::function<void(const Hello&)>;

// Told of what a program did besides once its requests had ended: it wrote something, or did not end well.
using Parted = std::function<void(const std::string& what)>;

}  // namespace plumb
