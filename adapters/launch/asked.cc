#include "adapters/launch/asked.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace plumb::launch {
namespace {

constexpr const char* usage =
    "usage: plumb-launch --ranks N [--launcher own|mpiexec|srun|flux|'COMMAND {n} {program}'] "
    "[--interface NAME] -- PROGRAM ARGUMENTS";
constexpr const char* rest_of_help = R"(
Starts a program of several ranks and carries the requests of plumb to them: as a backend of plumb run,
    plumb run --backend 'plumb-launch --ranks 4 --launcher mpiexec -- ./mine' 'on x=4: reshard f32[8@x] -> f32[8]'

  --ranks N         how many, from 1 to 65536
  --launcher WHO    who starts them, else PLUMB_LAUNCHER, else own:
                      own        this program, on this machine; each has PLUMB_RANK and PLUMB_WORLD
                      mpiexec    Open MPI's, or Hydra's (MPICH)
                      srun       Slurm's, with --mpi=pmix
                      flux       flux run
                      a command with {n} and {program}, which starts all ranks, or with {rank} and {program},
                                 which starts one and is run for each; {file} is a file with the address
  --interface NAME  the network interface, name or address on which ranks of other machines find this one,
                    else PLUMB_INTERFACE; else a unix socket in TMPDIR, for ranks of this machine
  --check           says what is missing here, if anything is, and starts nothing
  --help            this

PLUMB_SHARED      a folder that all machines see, for {file}; else TMPDIR
Exit codes: 0 there are no more requests, 1 it failed itself, 2 bad input, or ranks that cannot use their options.
How ranks join, and what is said of those that hang or die: adapters/launch/README.md.
)";
constexpr int most_ranks = 1 << 16;

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(fmt::format("plumb-launch: {}\n{}", what, usage));
}

int number_of_ranks(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 1 || n > most_ranks)
    refuse(fmt::format("--ranks: expected a number from 1 to {}, not '{}'", most_ranks, text));
  return n;
}

// Words stand between blanks, and each place is known; the program is words of its own.
void check_command(const std::string& launcher) {
  if (const auto at = launcher.find_first_of("'\"\\"); at != launcher.npos)
    refuse(
        fmt::format("--launcher: {} at {} of '{}': words stand between blanks, and nothing is quoted; a "
                    "script can do more",
                    launcher[at], at, launcher));
  for (const std::string& word : words_of(launcher)) {
    if (word != "{program}" && word.find("{program}") != word.npos)
      refuse(fmt::format("--launcher: {{program}} is a word of its own, not part of '{}'", word));
    for (std::size_t at = 0; (at = word.find('{', at)) != word.npos; ++at) {
      const std::size_t end = std::min(word.find('}', at), word.size() - 1);
      if (const std::string place = word.substr(at, end - at + 1);
          place != "{n}" && place != "{rank}" && place != "{file}" && place != "{program}")
        refuse(fmt::format(
            "--launcher: nothing is called '{}': {{n}}, {{rank}}, {{file}} and {{program}} are", place));
    }
  }
}

void check(const Asked& asked) {
  if (asked.ranks == 0) refuse("how many --ranks?");
  if (asked.program.empty()) refuse("which program? It stands after --");
  if (words_of(asked.launcher).empty()) refuse("--launcher: it is blank");
  const bool known = asked.launcher == "own" || asked.launcher == "mpiexec" || asked.launcher == "srun" ||
                     asked.launcher == "flux";
  if (!known && asked.launcher.find("{program}") == std::string::npos)
    refuse(fmt::format("no launcher '{}': own, mpiexec, srun, flux, or a command with {{program}}",
                       asked.launcher));
  if (!known) check_command(asked.launcher);
}

}  // namespace

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != text.npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string help() { return fmt::format("{}\n{}", usage, rest_of_help); }

Asked parse(const std::vector<std::string>& arguments) {
  Asked asked;
  if (const char* launcher = std::getenv("PLUMB_LAUNCHER"); launcher && *launcher) asked.launcher = launcher;
  if (const char* interface = std::getenv("PLUMB_INTERFACE")) asked.interface = interface;
  std::size_t i = 0;
  const auto value = [&](const std::string& of) {
    if (++i >= arguments.size()) refuse(of + " needs a value");
    return arguments[i];
  };
  for (; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string option = arguments[i];
    if (option == "--ranks")
      asked.ranks = number_of_ranks(value(option));
    else if (option == "--launcher")
      asked.launcher = value(option);
    else if (option == "--interface")
      asked.interface = value(option);
    else if (option == "--check")
      asked.check = true;
    else
      refuse(fmt::format("nothing is called '{}'", option));
  }
  if (i < arguments.size())
    asked.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  check(asked);
  return asked;
}

bool one_by_one(const Asked& asked) {
  return asked.launcher == "own" || asked.launcher.find("{rank}") != std::string::npos;
}

}  // namespace plumb::launch
