#include "harness/command/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "harness/backend/interrupt.h"
#include "harness/record/environment.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr int bad_input_code = 2, own_failure = 3, interrupted_code = 130;

std::string version_line() {
  return revision().empty() ? version() : fmt::format("{} ({})", version(), revision());
}

int parse(int argc, const char* const* argv) {
  CLI::App app(
      "Plumbline: does every device hold exactly the right bits, and did it move no more bytes than it had "
      "to?",
      "plumb");
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  int code = 0;
  add_run(app, code);
  add_list(app, code);
  add_explain(app);
  add_sweep(app, code);
  add_liars(app, code);
  add_backends(app, code);
  add_doctor(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_input_code;
  }
  return code;
}

}  // namespace

int command(int argc, const char* const* argv) {
  try {
    catch_interrupts();
    const int code = parse(argc, argv);
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
    return code;
  } catch (const BadInput& error) {
    fmt::print(stderr, "plumb: {}\n", error.what());
    return bad_input_code;
  } catch (const Interrupted&) {
    return interrupted_code;
  } catch (const std::exception& error) {
    fmt::print(stderr, "plumb: {}\n", error.what());
    return own_failure;
  }
}

}  // namespace plumb
