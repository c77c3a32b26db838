#include "harness/command/flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "reference/words/text.h"

namespace plumb {

void add_running(CLI::App& app, Running& r) {
  app.add_option("--backend", r.backends,
                 "NAME[@RELEASE][,option=value...], or a command that speaks the protocol (may repeat); "
                 "default: $PLUMB_BACKEND, else local")
      ->allow_extra_args(false);  // what follows its one value is a case
  app.add_option("--jobs", r.jobs, "Cases at a time")->check(CLI::Range(1, 1024));
  app.add_option("--timeout", r.timeout, "Seconds that a backend has to start, to compile and to run")
      ->check(CLI::PositiveNumber);
  app.add_option("--max-waste", r.settings.max_waste,
                 "wasteful is what moves more than this many times the bytes of its bound")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--reruns", r.settings.reruns, "Run each case again this often and compare bits")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--budget", r.budget, "Begin no case after this time: 90s, 10m, 2h");
}

Settings settings(const Running& r) {
  Settings s = r.settings;
  if (r.timeout > 0) s.start_seconds = s.compile_seconds = s.run_seconds = r.timeout;
  return s;
}

std::vector<std::string> backends_of(const Running& r) {
  if (!r.backends.empty()) return r.backends;
  const char* given = std::getenv("PLUMB_BACKEND");
  return {given && *given ? given : "local"};
}

void add_output(CLI::App& app, Output& out) {
  app.add_option("--color", out.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--quiet", out.quiet, "Print the table alone");
}

double parse_budget(const std::string& text) {
  if (text.empty()) return 0;
  std::size_t end = 0;
  double seconds = -1;
  try {
    seconds = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(std::min(end, text.size()));
  const double scale = unit == "s" || unit.empty() ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (!(seconds > 0) || scale == 0)
    throw bad_input("--budget: expected a time such as 90s, 10m or 2h", text, 0);
  return seconds * scale;
}

}  // namespace plumb
