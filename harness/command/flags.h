// Flags that several subcommands share.
#pragma once

#include <string>
#include <vector>

#include "harness/report/paint.h"
#include "harness/run/attempt.h"

namespace CLI {
class App;
}

namespace plumb {

// How cases are run.
struct Running {
  std::vector<std::string> backends;
  Settings settings;
  double timeout = 0;  // for each phase; 0: the defaults of Settings
  int jobs = 1;
  std::string budget;
};
void add_running(CLI::App&, Running&);
Settings settings(const Running&);
std::vector<std::string> backends_of(const Running&);  // those given, else $PLUMB_BACKEND, else local

struct Output {
  std::string color = "auto";
  bool quiet = false;
};
void add_output(CLI::App&, Output&);

// "90s", "10m", "1.5h" in seconds; nothing is no limit (0). Throws BadInput.
double parse_budget(const std::string&);

}  // namespace plumb
