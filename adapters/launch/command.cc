#include "adapters/launch/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace plumb::launch {
namespace {

std::string ask_mpiexec_for_its_version() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen("mpiexec --version 2>&1", "r"), ::pclose);
  std::string text;
  std::array<char, 512> chunk;
  while (pipe && std::fgets(chunk.data(), chunk.size(), pipe.get())) text += chunk.data();
  return text;
}

// The path of a program without a folder, or "".
std::string found_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + program; ::access(file.c_str(), X_OK) == 0) return file;
  return "";
}

// Whether mpiexec is Open MPI's. Of release 4 it is a link to orterun; it is asked where the name does not
// say, which takes as long as to start a process thrice.
bool ask_whether_open_mpi() {
  std::error_code none;
  if (std::filesystem::canonical(found_on_path("mpiexec"), none).filename() == "orterun") return true;
  const std::string version = ask_mpiexec_for_its_version();
  return version.find("Open MPI") != version.npos || version.find("OpenRTE") != version.npos ||
         version.find("PRRTE") != version.npos;
}

bool is_open_mpi() {
  static const bool open = ask_whether_open_mpi();
  return open;
}

// Open MPI is told each variable, Hydra their list; both are told that more ranks than cores are meant.
std::vector<std::string> mpiexec(const Asked& asked, const std::vector<std::string>& names) {
  std::vector<std::string> words{"mpiexec", "-n", std::to_string(asked.ranks)};
  if (is_open_mpi()) {
    words.push_back("--oversubscribe");
    for (const std::string& name : names) words.insert(words.end(), {"-x", name});
  } else {
    words.insert(words.end(), {"-genvlist", fmt::format("{}", fmt::join(names, ","))});
  }
  return words;
}

// A command that somebody wrote.
std::vector<std::string> filled_in(const Asked& asked, const Passed& passed) {
  const std::pair<std::string, std::string> places[] = {
      {"{n}",    std::to_string(asked.ranks)},
      {"{rank}", std::to_string(passed.rank)},
      {"{file}", passed.file                }
  };
  std::vector<std::string> words;
  for (std::string word : words_of(asked.launcher)) {
    if (word == "{program}") {
      words.insert(words.end(), asked.program.begin(), asked.program.end());
      continue;
    }
    for (const auto& [place, value] : places)
      for (std::size_t at = 0; (at = word.find(place, at)) != word.npos; at += value.size())
        word.replace(at, place.size(), value);
    words.push_back(word);
  }
  return words;
}

bool on_path(const std::string& program) {
  if (program.find('/') != program.npos) return ::access(program.c_str(), X_OK) == 0;
  return !found_on_path(program).empty();
}

// A program of that name beside this one, or "".
std::string beside_this(const std::string& program) {
  std::array<char, 4096> own{};
  if (::readlink("/proc/self/exe", own.data(), own.size() - 1) < 0) return "";
  const std::string self = own.data(), path = self.substr(0, self.rfind('/') + 1) + program;
  return program.find('/') == program.npos && ::access(path.c_str(), X_OK) == 0 ? path : "";
}

// Of a job of Slurm: the name of the file, which no other has.
std::string name_of_job(const Passed& passed) {
  return "plumb-" + passed.file.substr(passed.file.rfind('/') + 1);
}

}  // namespace

std::vector<std::string> command(const Asked& asked, const Passed& passed) {
  const std::string n = std::to_string(asked.ranks);
  std::vector<std::string> words;
  if (asked.launcher == "mpiexec")
    words = mpiexec(asked, passed.names);
  else if (asked.launcher == "srun")
    words = {"srun",
             "-n",
             n,
             "--mpi=pmix",
             "--export=ALL",
             "--kill-on-bad-exit=1",
             "--job-name=" + name_of_job(passed)};
  else if (asked.launcher == "flux")
    words = {"flux", "run", "-n", n};
  else if (asked.launcher != "own")
    return filled_in(asked, passed);
  words.insert(words.end(), asked.program.begin(), asked.program.end());
  return words;
}

bool by_open_mpi(const Asked& asked) { return asked.launcher == "mpiexec" && is_open_mpi(); }

// Slurm's tasks are nobody's descendants here, and outlive an srun that is killed: the job, where srun asked
// for one, and the step.
std::string cancel_line(const Asked& asked, const Passed& passed) {
  if (asked.launcher != "srun") return "";
  return fmt::format(
      "scancel --quiet --name={0}; squeue --steps --noheader --format='%i %j' | sed -n 's/ {0}$//p' | "
      "xargs -r scancel --quiet",
      name_of_job(passed));
}

std::string first_program(const Asked& asked) {
  if (asked.launcher == "own") return asked.program[0];
  const std::string word = words_of(asked.launcher)[0];
  return word == "{program}" ? asked.program[0] : word;
}

void look_for_program(const Asked& asked) {
  const std::string program = first_program(asked);
  if (on_path(program)) return;
  const std::string beside = beside_this(program);
  throw std::invalid_argument(fmt::format("plumb-launch: no program '{}'{}", program,
                                          program == "mpiexec" ? ": install an MPI, or load its module"
                                          : !beside.empty()    ? fmt::format(" on PATH; it is {}", beside)
                                                               : std::string()));
}

void look_for_slurm(const Asked& asked) {
  if (asked.launcher == "srun" && std::system("timeout 8 sinfo --noheader >/dev/null 2>&1") != 0)
    throw std::invalid_argument("plumb-launch: srun is here, and no Slurm: sinfo does not get an answer");
}

}  // namespace plumb::launch
