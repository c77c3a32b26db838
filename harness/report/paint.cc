#include "harness/report/paint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace plumb {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string colored(Paint paint, int code, std::string_view text) {
  return paint.on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace

bool moves_its_cursor(int descriptor) {
  const std::string_view terminal = variable("TERM");
  return isatty(descriptor) == 1 && !terminal.empty() && terminal != "dumb";
}

Paint paint_for(std::string_view when, int descriptor) {
  if (when != "auto") return {when == "always"};
  return {moves_its_cursor(descriptor) && variable("NO_COLOR").empty()};
}

std::string bold(Paint paint, std::string_view text) { return colored(paint, 1, text); }
std::string dim(Paint paint, std::string_view text) { return colored(paint, 2, text); }

std::string painted(Paint paint, Status status, std::string_view text) {
  const int green = 32, red = 31, yellow = 33;
  return colored(paint, status == Status::pass ? green : finding(status) ? red : yellow, text);
}

}  // namespace plumb
