#include "harness/command/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <set>

#include "harness/backend/resolve.h"
#include "harness/record/environment.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

// CLI11's own lets NaN pass, and names its limits with 309 digits.
CLI::Validator number(std::string expected, bool (*good)(double)) {
  return {[=](std::string& text) {
            double value = 0;
            const bool is = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && good(value);
            return is ? std::string() : fmt::format("expected {}, not {}", expected, text);
          },
          ""};
}

}  // namespace

CLI::Validator positive() {
  return number("a number above 0", [](double v) { return v > 0; });
}
CLI::Validator not_negative() {
  return number("a number of at least 0", [](double v) { return v >= 0; });
}
CLI::Validator file_name() {
  return {[](std::string& text) { return text.empty() ? "expected the name of a file" : std::string(); }, ""};
}

void add_running(CLI::App& app, Running& r) {
  app.add_option("--backend", r.backends,
                 "NAME[@RELEASE][,option=value...], or a command that speaks the protocol (may repeat); "
                 "default: $PLUMB_BACKEND, else local")
      ->allow_extra_args(false);  // what follows its one value is a case
  app.add_option("--jobs", r.jobs, "Cases at a time")->check(CLI::Range(1, 1024));
  app.add_option("--timeout", r.timeout, "Seconds that a backend has to start, to compile and to run")
      ->check(positive());
  app.add_option("--max-waste", r.settings.max_waste,
                 "wasteful is what moves more than this many times the bytes of its bound")
      ->check(not_negative());
  app.add_option("--max-collectives", r.settings.max_collectives,
                 "wasteful is what takes more than this many times the collectives that its groups allow")
      ->check(not_negative());
  app.add_option("--reruns", r.settings.reruns, "Run each case again this often and compare bits")
      ->check(not_negative());
  app.add_option("--budget", r.budget, "Begin no case after this time: 90s, 10m, 2h");
}

Settings settings(const Running& r) {
  Settings s = r.settings;
  s.most_bytes = machine().memory_bytes / r.jobs;
  if (r.timeout > 0) s.start_seconds = s.compile_seconds = s.run_seconds = r.timeout;
  return s;
}

std::vector<std::string> backends_of(const Running& r) {
  const char* given = std::getenv("PLUMB_BACKEND");
  if (r.backends.empty()) return {given && *given ? given : "local"};
  std::vector<std::string> distinct;
  std::set<std::string> names;
  for (const std::string& backend : r.backends)
    if (names.insert(resolve(backend).name).second) distinct.push_back(backend);
  return distinct;
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
