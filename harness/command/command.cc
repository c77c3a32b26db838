#include "harness/command/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "harness/backend/interrupt.h"
#include "harness/backend/lookup.h"
#include "harness/backend/orphans.h"
#include "harness/backend/spelling.h"
#include "harness/command/help.h"
#include "harness/record/environment.h"
#include "reference/words/dtype.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr int bad_input_code = 2, own_failure = 3, interrupted_code = 130;

std::string version_line() {
  return revision().empty() ? version() : fmt::format("{} ({})", version(), revision());
}

// A standard descriptor that the caller closed would be that of the next file opened: a table in the record.
// Nothing can be read from what stands in for it here, nor written to standard output.
void hold_standard_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int held = ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

// What the command line has that no option takes.
BadInput not_taken(const std::string& extra, const CLI::App& by, const std::string& name) {
  if (extra.find(' ') != extra.npos)
    return bad_input("expected a case, which begins with 'on ', or an option", extra, 0);
  std::vector<std::string> known;
  for (const CLI::Option* option : by.get_options())
    for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  const std::string near = nearest(extra.substr(0, extra.find('=')), known);
  if (!near.empty()) return BadInput(fmt::format("there is no '{}'; did you mean {}?", extra, near));
  return BadInput(fmt::format("there is no '{}'; {} --help says what there is", extra, name));
}

BadInput refused(const CLI::ParseError& error, const CLI::App& app, const std::string& names) {
  const auto chosen = app.get_subcommands();
  const CLI::App& by = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "plumb" : "plumb " + by.get_name();
  if (const auto extras = app.remaining(true); !extras.empty()) return not_taken(extras.front(), by, name);
  if (chosen.empty()) return BadInput(fmt::format("expected a subcommand: {}", names));
  constexpr std::string_view twice = ": At Most 1 required";
  const std::string said = error.what();
  if (const std::size_t at = said.find(twice); at != said.npos)
    return BadInput(fmt::format("{} stands twice", said.substr(0, at)));
  return BadInput(fmt::format("{}\n  {} --help says what it takes", said, name));
}

// The file that standard output goes to, where its name is that of a spec: "f32[8]", which the > of a line
// without quotes made.
std::string spec_made_a_file() {
  std::error_code error;
  const std::string name = std::filesystem::read_symlink("/proc/self/fd/1", error).filename();
  const bool spec = dtype_named(std::string_view(name).substr(0, name.find('['))) && name.ends_with(']');
  return error || !spec ? "" : name;
}

// A line that the shell took apart, since it stood without quotes.
void refuse_unquoted(const std::vector<std::string>& words) {
  const auto on = std::ranges::find(words, "on");
  if (on == words.end() || std::next(on) == words.end() || std::next(on)->find('=') == std::string::npos)
    return;
  std::string line = fmt::format("{}", fmt::join(on, words.end(), " "));
  const std::string made = spec_made_a_file();
  if (line.ends_with(" -")) line += made.empty() ? "> ..." : "> " + made;
  std::string text = fmt::format("a case is one argument, in quotes: '{}'", line);
  if (!made.empty())
    text += fmt::format("\n  the shell took the > for its own and made a file of the name {}", made);
  throw BadInput(text);
}

// plumb help [COMMAND] is plumb [COMMAND] --help.
std::vector<std::string> with_help_as_flag(std::vector<std::string> words) {
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.resize(std::min<std::size_t>(words.size(), 1));
  words.push_back("--help");
  return words;
}

int parse(std::vector<std::string> words) {
  words = with_help_as_flag(std::move(words));
  refuse_unquoted(words);
  CLI::App app(
      "Plumbline: does every device hold exactly the right bits, and did it move no more bytes than it had "
      "to?",
      "plumb");
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  int code = 0;
  add_run(app, words, code);
  add_bench(app, code);
  add_compare(app, code);
  add_list(app, code);
  add_explain(app);
  add_resolve(app, code);
  add_sweep(app, code);
  add_prove(app, code);
  add_liars(app, code);
  add_backends(app, code);
  add_doctor(app, code);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string all = CLI::detail::join(names, ", ");
  if (!words.empty() && !words[0].starts_with('-') && std::ranges::count(names, words[0]) == 0)
    throw BadInput(
        fmt::format("there is no subcommand '{}', only {}{}", words[0], all, did_you_mean(words[0], names)));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as the library wants them
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", wrapped(app.help(), 80));
    return 0;
  } catch (const CLI::Success& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    throw refused(error, app, all);
  }
  return code;
}

// Standard error may be gone as well: then the exit code is all that can be said.
int complain(const std::exception& error, int code) {
  std::fprintf(stderr, "plumb: %s\n", printable(std::string_view(error.what())).c_str());
  return code;
}

}  // namespace

int command(int argc, const char* const* argv) {
  try {
    hold_standard_descriptors();
    catch_interrupts();
    std::signal(SIGXFSZ, SIG_IGN);  // a record past the limit of a file is then an error of its write
    adopt_orphans();
    const int code = parse({argv + std::min(argc, 1), argv + argc});
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
    if (std::ferror(stdout) != 0) throw std::runtime_error("standard output: not all of it could be written");
    return code;
  } catch (const BadInput& error) {
    return complain(error, bad_input_code);
  } catch (const Interrupted&) {
    return interrupted_code;
  } catch (const std::exception& error) {
    return complain(error, own_failure);
  }
}

}  // namespace plumb
