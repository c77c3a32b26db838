#include "harness/command/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>

#include "harness/backend/lookup.h"
#include "harness/record/environment.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

// What a check says: where there is a text, with a caret under the character.
std::string refusal(const std::string& message, const std::string& text, std::size_t at) {
  return text.empty() ? message : bad_input(message, text, at).what();
}

// CLI11's own lets NaN pass, and names its limits with 309 digits.
CLI::Validator number(std::string expected, bool (*good)(double)) {
  return {[=](std::string& text) {
            double value = 0;
            const bool is = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && good(value);
            return is ? std::string() : refusal(fmt::format("expected {}, not {}", expected, text), text, 0);
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
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[=](std::string& text) {
            std::uint64_t value = 0;
            const char* end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, value);
            const bool is = error == std::errc() && rest == end && value >= least && value <= most;
            const bool number = error == std::errc() && rest != end;
            return is ? std::string()
                      : refusal(
                            fmt::format("expected a whole number from {} to {}, not {}", least, most, text),
                            text, number ? rest - text.data() : 0);
          },
          ""};
}
CLI::Validator not_empty(std::string expected) {
  return {[=](std::string& text) { return text.empty() ? "expected " + expected : std::string(); }, ""};
}
CLI::Validator file_name() { return not_empty("the name of a file"); }

BadInput of_flag(std::string_view flag, const BadInput& error) {
  return BadInput(fmt::format("{}: {}", flag, error.what()));
}

void add_running(CLI::App& app, RunningFlags& r) {
  app.add_option("--backend", r.backends,
                 "NAME[@RELEASE][,option=value...], or a command that speaks the protocol (may repeat); "
                 "default: $PLUMB_BACKEND, else local")
      ->check(not_empty("the name of a backend, or a command"))
      ->allow_extra_args(false);  // what follows its one value is a case
  app.add_option("--jobs", r.jobs, "Cases at a time, but one of a backend that has to be alone")
      ->check(whole_number(1, most_jobs))
      ->capture_default_str();
  app.add_option(
         "--timeout", r.limits.timeout,
         fmt::format("Seconds that a backend has for each of three; default: {:g} to start, {:g} to compile, "
                     "{:g} to run, and for a large case as long again as its work takes this machine",
                     Deadlines{}.start, Deadlines{}.compile, Deadlines{}.run))
      ->check(positive());
  app.add_option(
         "--max-waste", r.limits.max_waste,
         "wasteful is what moves more than this many times the bytes of its bound; default: the limit of "
         "the suite's row, else none")
      ->check(not_negative());
  app.add_option(
         "--max-collectives", r.limits.max_collectives,
         "wasteful is what takes more than this many times the collectives that its groups allow; default: "
         "the limit of the suite's row, else none")
      ->check(not_negative());
  app.add_option("--reruns", r.limits.reruns,
                 "Run each case on other data, then again this often, and compare bits")
      ->check(whole_number(0, 1000))
      ->capture_default_str();
  app.add_flag(
      "--in-place", r.in_place,
      "Prove blocks where they lie, where the backend fills its operands itself and the case has such "
      "a proof");
  app.add_option("--budget", r.budget, "Begin no case after this time: 90s, 10m, 2h; default: no limit")
      ->check(not_empty("a time such as 90s, 10m or 2h"));
}

Settings settings(const RunningFlags& r) {
  Settings s;
  s.most_bytes = machine().memory_bytes / r.jobs;
  s.cores = static_cast<double>(machine().cores) / r.jobs;
  if (const double all = r.limits.timeout; all > 0) s.deadlines = {all, all, all}, s.cores = 0;
  s.in_place = r.in_place;
  return s;
}

std::vector<std::string> backends_of(const RunningFlags& r) {
  const char* given = std::getenv("PLUMB_BACKEND");
  if (r.backends.empty()) return {given && *given ? given : "local"};
  std::vector<std::string> distinct;
  std::set<std::string> names;
  for (const std::string& backend : r.backends)
    if (names.insert(find_backend(backend).name).second) distinct.push_back(backend);
  return distinct;
}

void add_output(CLI::App& app, Output& out) {
  app.add_option("--color", out.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_flag(
      "--quiet", out.quiet,
      "Print the table alone: no findings, and no line of progress, which is drawn on standard error "
      "where that is a terminal");
}

double parse_budget(const std::string& text, std::string_view flag) {
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
    throw bad_input(fmt::format("{}: expected a time such as 90s, 10m or 2h", flag), text, 0);
  // From now on, which is within the first half of what a clock counts to.
  const double longest = std::chrono::duration<double>(std::chrono::nanoseconds::max()).count() / 2;
  if (seconds * scale > longest) throw bad_input(fmt::format("{}: no clock counts so far", flag), text, 0);
  return seconds * scale;
}

}  // namespace plumb
