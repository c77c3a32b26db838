#include "harness/backend/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "harness/backend/child.h"
#include "harness/backend/place.h"
#include "harness/backend/spawn.h"
#include "harness/backend/spelling.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

// A backend's name taken apart, with where each part stands in the text.
struct Part {
  std::string_view text;
  std::size_t at = 0;
};
struct Parts {
  Part name, release;
  std::vector<std::pair<Part, Part>> options;
};

std::string hint(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string close = did_you_mean(word, candidates);
  if (!close.empty()) return close;
  return fmt::format("; there {} {}", candidates.size() == 1 ? "is" : "are", fmt::join(candidates, ", "));
}

// The options from `at` to `end` of the text, each behind a comma: ",plan=ring,wire=bf16".
std::vector<std::pair<Part, Part>> options_at(std::string_view text, std::size_t at, std::size_t end) {
  std::vector<std::pair<Part, Part>> options;
  for (std::size_t next = 0; at < end; at = next) {
    next = std::min(text.find(',', ++at), end);
    const std::string_view piece = text.substr(at, next - at);
    const std::size_t sign = piece.find('=');
    if (sign == 0 || sign == std::string_view::npos || sign + 1 == piece.size())
      throw bad_input("expected option=value", text, at);
    options.push_back({
        {piece.substr(0, sign),    at},
        {piece.substr(sign + 1),              at + sign + 1}
    });
  }
  return options;
}

Parts take_apart(std::string_view text) {
  const std::size_t end = std::min(text.find(','), text.size());
  const std::size_t sign = std::min(text.find('@'), end);
  if (sign + 1 == end) throw bad_input("expected a release after '@'", text, sign + 1);
  const std::size_t release = std::min(sign + 1, end);
  return {
      {text.substr(0,       sign),          0       },
      {text.substr(release, end - release), sign + 1},
      options_at(text, end, text.size())
  };
}

const BackendRow& row_named(const Part& name, std::string_view text) {
  std::vector<std::string> names;
  for (const BackendRow& row : backend_rows()) {
    if (row.name == name.text) return row;
    names.push_back(row.name);
  }
  throw bad_input(fmt::format("no backend '{}'{} (a command has a slash or a space in it)", name.text,
                              hint(name.text, names)),
                  text, name.at);
}

const BackendOption& option_named(const BackendRow& row, const Part& name, std::string_view text) {
  std::vector<std::string> names;
  for (const BackendOption& o : row.options) {
    if (o.name == name.text) return o;
    names.push_back(o.name);
  }
  throw bad_input(fmt::format("{} has no option '{}'{}", row.name, name.text, hint(name.text, names)), text,
                  name.at);
}

// fsdp:data.expert/tp:model: names, each with axes; the backend knows which names there are.
void check_map(const BackendOption& o, const Part& value, std::string_view text) {
  for (std::size_t at = 0; at <= value.text.size();) {
    const std::size_t end = std::min(value.text.find('/', at), value.text.size());
    const std::string_view piece = value.text.substr(at, end - at);
    const std::size_t colon = piece.find(':');
    const std::string axes = colon == piece.npos ? "." : fmt::format(".{}.", piece.substr(colon + 1));
    if (colon == 0 || axes.find("..") != axes.npos || axes == "." || axes.find(':') != axes.npos)
      throw bad_input(
          fmt::format("{}: expected NAME:AXIS or NAME:AXIS.AXIS, as in fsdp:data.expert/tp:model", o.name),
          text, value.at + at);
    at = end + 1;
  }
}

// Sets the options and appends them to the names.
void add_options(Command& command, const BackendRow& row, const Parts& parts, std::string_view text) {
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : parts.options) {
    const BackendOption& o = option_named(row, name, text);
    if (const auto values = value_names(o); !values.empty() && std::ranges::count(values, value.text) == 0)
      throw bad_input(fmt::format("no {} '{}'{}", o.name, value.text, hint(value.text, values)), text,
                      value.at);
    if (o.map) check_map(o, value, text);
    if (!given.emplace(o.name, value.text).second)
      throw bad_input(fmt::format("{} stands twice", o.name), text, name.at);
  }
  std::vector<std::string> needed;
  for (const BackendOption& o : row.options)
    if (o.needed) needed.push_back(o.name + "=...");
  if (!needed.empty() && std::ranges::none_of(row.options, [&](const BackendOption& o) {
        return o.needed && given.contains(o.name);
      }))
    throw bad_input(fmt::format("{0} needs {1}; see adapters/{0}", row.name, fmt::join(needed, " or ")), text,
                    text.size());
  for (const BackendOption& o : row.options) {
    const auto at = given.find(o.name);
    if (at == given.end() || at->second == o.standard) continue;
    command.options.emplace_back(*at);
    const std::string as_written = fmt::format(",{}={}", at->first, at->second);
    command.asked += as_written;
    if (o.names) command.name += as_written;
  }
}

// What an option says, or its standard.
std::string value_of(const BackendRow& row, const Command& command, const std::string& option) {
  for (const auto& [name, value] : command.options)
    if (name == option) return value;
  for (const BackendOption& o : row.options)
    if (o.name == option) return o.standard;
  return "";
}

// A program of several ranks behind the one that starts them, which knows what PLUMB_LAUNCHER says.
std::vector<std::string> launched(const BackendRow& row, const Command& command, const std::string& program) {
  std::vector<std::string> argv{own_program("plumb-launch"), "--ranks", value_of(row, command, "np")};
  const std::string asked = value_of(row, command, "launcher");
  const char* everywhere = std::getenv("PLUMB_LAUNCHER");
  const std::string who = !asked.empty() ? asked : everywhere ? everywhere : "";
  if (who == "own" && row.launch != "own" && value_of(row, command, "np") != "1")
    throw BadInput(
        fmt::format("{}: launcher own starts its ranks as worlds of one each; mpiexec, srun, flux, or a "
                    "command with {{n}} "
                    "and {{program}} start them together",
                    row.name));
  if (!asked.empty() || !everywhere || !*everywhere)
    argv.insert(argv.end(), {"--launcher", asked.empty() ? row.launch : asked});
  argv.insert(argv.end(), {"--", program});
  return argv;
}

BadInput not_here(const BackendRow& row, const std::string& release) {
  return BadInput(fmt::format("{}{}{} is not here; it comes with: {}", row.name, release.empty() ? "" : "@",
                              release, mend(row, release)));
}

std::vector<std::string> own_command(const BackendRow& row, const Parts& parts, std::string_view text) {
  if (!parts.release.text.empty())
    throw bad_input(fmt::format("{} has no releases", row.name), text, parts.release.at);
  const std::string program = own_program(row.program);
  if (program.empty()) throw not_here(row, "");
  return {program};
}

// What the Python of this environment has of these distributions, by name.
std::map<std::string, std::string> versions_here(const std::vector<std::string>& distributions) {
  constexpr std::chrono::seconds to_look{10};
  constexpr const char* ask =
      "import sys\n"
      "from importlib import metadata\n"
      "for name in sys.argv[1:]:\n"
      "    try:\n"
      "        print(name, metadata.version(name))\n"
      "    except metadata.PackageNotFoundError:\n"
      "        pass\n";
  std::map<std::string, std::string> found;
  std::vector<std::string> argv{python_here(), "-I", "-c", ask};
  if (argv[0].empty()) return found;
  argv.insert(argv.end(), distributions.begin(), distributions.end());
  Child child({argv, {}, {}});
  if (child.end(to_look) != "exited with code 0") return found;
  const std::vector<std::string> words = split_words(child.last_words());
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) found[words[i]] = words[i + 1];
  return found;
}

// The release that is meant, and the Python that has it.
struct Interpreter {
  std::string release, python;
  bool here = false;  // in this very environment
};

Interpreter interpreter_of(const BackendRow& row, std::string release) {
  const auto releases = environment_releases(row.name);
  if (release.empty() && !releases.empty()) release = releases.front();
  if (!release.empty() && release != "here") return {release, environment_python(row.name, release)};
  const auto versions = versions_here({row.distribution});
  if (const auto at = versions.find(row.distribution); at != versions.end())
    return {at->second, python_here(), true};
  if (release.empty()) return {row.releases.front(), ""};
  const std::string python = python_here();
  throw BadInput(fmt::format("{}@here: {}", row.name,
                             python.empty() ? "there is no python3 on PATH"
                                            : fmt::format("{} has no {}", python, row.distribution)));
}

std::vector<std::string> worker_command(const BackendRow& row, const Interpreter& with) {
  const std::string& python = with.python;
  if (python.empty()) throw not_here(row, with.release);
  const std::string worker = own_file(row.worker);
  if (worker.empty()) throw BadInput(fmt::format("{} is missing from this installation", row.worker));
  return {python, "-I", worker};
}

// Of a program that nobody has written a row for: it may have started a job.
constexpr double grace_of_a_command = 5;

bool is_file(const std::string& word) {
  std::error_code none;
  return std::filesystem::is_regular_file(word, none) || !find_program(word).empty();
}

// Takes the options of a command out of its words: ./mine,plan=ring, python3 mine.py,plan=ring. Of a program
// that is nowhere too, so that it is what is said of it.
void take_options(Command& command, std::string_view text) {
  for (std::string& word : command.argv) {
    const std::size_t comma = word.find(',');
    const bool first = &word == &command.argv.front();
    if (comma == word.npos || is_file(word) || !(first || is_file(word.substr(0, comma)))) continue;
    const std::size_t at = text.find(word);
    if (at == text.npos) continue;  // it is quoted
    for (const auto& [name, value] : options_at(text, at + comma, at + word.size())) {
      if (std::ranges::count(command.options, name.text, &std::pair<std::string, std::string>::first) > 0)
        throw bad_input(fmt::format("{} stands twice", name.text), text, name.at);
      command.options.emplace_back(name.text, value.text);
    }
    word.resize(comma);
    return;
  }
}

Command resolve_command(std::string_view text) {
  Command command{std::string(text), split_words(text), {}, grace_of_a_command, std::string(text)};
  if (command.argv.empty()) throw BadInput("the command of the backend is empty");
  take_options(command, text);
  const std::string& program = command.argv[0];
  if (!find_program(program).empty()) return command;
  const bool there = std::filesystem::is_regular_file(program);
  throw bad_input(
      fmt::format(fmt::runtime(there ? "'{0}' is not executable: chmod +x {0}" : "no program '{}'"), program),
      text, text.find_first_not_of(' '));
}

// What a program says it lacks when it is asked; "" where it is nothing.
std::string said_missing(std::vector<std::string> argv) {
  constexpr std::chrono::seconds to_look{10};
  const std::string program = argv[0];
  Child child({std::move(argv), {}, {}});
  const std::string end = child.end(to_look);
  if (end == "exited with code 0") return "";
  const std::string words = child.last_words();
  return words.empty() ? fmt::format("{} {}", program, end) : words.substr(0, words.find('\n'));
}

// Of one that is built: what it works on, then who is to start its ranks.
std::string lacks(const BackendRow& row) {
  const std::string due = row.check ? said_missing({own_program(row.program), "--check"}) : "";
  if (!due.empty() || row.launch.empty()) return due;
  try {
    Command command = find_backend(row.name);
    command.argv.insert(std::ranges::find(command.argv, "--"), "--check");
    return said_missing(command.argv);
  } catch (const BadInput& e) {
    return e.what();
  }
}

}  // namespace

const BackendRow& row_named(std::string_view name) { return row_named({name, 0}, name); }

Command find_backend(std::string_view text) {
  if (text.substr(0, text.find(',')).find_first_of(" /") != std::string_view::npos)
    return resolve_command(text);
  const Parts parts = take_apart(text);
  const BackendRow& row = row_named(parts.name, text);
  Command command{row.name, {}, {}, row.grace};
  Interpreter with;
  if (!row.worker.empty()) {
    with = interpreter_of(row, std::string(parts.release.text));
    command.asked = row.name + "@" + (with.here ? "here" : with.release);
    command.name += "@" + with.release;
  } else {
    command.asked = command.name;
  }
  add_options(command, row, parts, text);  // before what is built or installed: a bad name is bad everywhere
  command.argv = row.worker.empty() ? own_command(row, parts, text) : worker_command(row, with);
  if (!row.launch.empty()) command.argv = launched(row, command, command.argv[0]);
  return command;
}

std::vector<Known> known_backends() {
  std::vector<Known> out;
  std::vector<std::string> distributions;
  for (const BackendRow& row : backend_rows())
    if (!row.worker.empty()) distributions.push_back(row.distribution);
  const auto versions = versions_here(distributions);
  for (const BackendRow& row : backend_rows()) {
    if (row.worker.empty()) {
      const bool built = !own_program(row.program).empty();
      const std::string due = built ? lacks(row) : mend(row, "");
      out.push_back({row.name, row.what, due.empty(), due});
      continue;
    }
    if (const auto at = versions.find(row.distribution); at != versions.end())
      out.push_back({row.name + "@here", fmt::format("{} of {}", at->second, python_here()), true, ""});
    std::vector<std::string> releases = environment_releases(row.name);
    const std::size_t here = releases.size();
    for (const std::string& r : row.releases)
      if (std::find(releases.begin(), releases.end(), r) == releases.end()) releases.push_back(r);
    for (std::size_t i = 0; i < releases.size(); ++i) {
      const std::string name = row.name + "@" + releases[i];
      out.push_back({name, row.what, i < here, i < here ? "" : mend(row, releases[i])});
    }
  }
  return out;
}

}  // namespace plumb
