// Flags that several subcommands share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/report/paint.h"
#include "harness/run/attempt.h"
#include "reference/words/text.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace plumb {

// How cases are run.
struct RunningFlags {
  std::vector<std::string> backends;
  Limits limits;  // its timeout is of each phase
  int jobs = 1;
  bool in_place = false;
  std::string budget;
};
constexpr std::uint64_t most_jobs = 1024;
void add_running(CLI::App&, RunningFlags&);
Settings settings(const RunningFlags&);
std::vector<std::string> backends_of(
    const RunningFlags&);  // those given, else $PLUMB_BACKEND, else local; each once

// Checks of what a flag is given: a finite number above 0, or of at least 0; a whole number; any text but an
// empty one, which has a name.
CLI::Validator positive();
CLI::Validator not_negative();
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator not_empty(std::string expected);
CLI::Validator file_name();

// The same error, with the flag that it is of before it.
BadInput of_flag(std::string_view flag, const BadInput&);

struct Output {
  std::string color = "auto";
  bool quiet = false;
};
void add_output(CLI::App&, Output&);

// "90s", "10m", "1.5h" in seconds; nothing is no limit (0). Throws BadInput, which names the flag.
double parse_budget(const std::string&, std::string_view flag = "--budget");

}  // namespace plumb
