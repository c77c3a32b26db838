#include "adapters/launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "adapters/launch/wire.h"

extern char** environ;

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
constexpr std::chrono::seconds grace{3};

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

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != text.npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

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
bool is_open_mpi() {
  std::error_code none;
  if (std::filesystem::canonical(found_on_path("mpiexec"), none).filename() == "orterun") return true;
  const std::string version = ask_mpiexec_for_its_version();
  return version.find("Open MPI") != version.npos || version.find("OpenRTE") != version.npos ||
         version.find("PRRTE") != version.npos;
}

// Open MPI is told each variable, Hydra their list; both are told that more ranks than cores are meant.
std::vector<std::string> mpiexec(const Asked& asked, const std::vector<std::string>& names) {
  static const bool open = is_open_mpi();
  std::vector<std::string> words{"mpiexec", "-n", std::to_string(asked.ranks)};
  if (open) {
    words.push_back("--oversubscribe");
    for (const std::string& name : names) words.insert(words.end(), {"-x", name});
  } else {
    words.insert(words.end(), {"-genvlist", fmt::format("{}", fmt::join(names, ","))});
  }
  return words;
}

// Root is refused, and ranks beyond the cores, unless these say that both are meant; what mpiexec has to say
// of a signal that it passes on is no last word of a rank; what the library keeps in files and in memory that
// is shared lies where it is removed with the rest.
std::vector<std::pair<std::string, std::string>> of_the_library() {
  std::vector<std::pair<std::string, std::string>> all{
      {"OMPI_ALLOW_RUN_AS_ROOT",                "1"             },
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",        "1"             },
      {"OMPI_MCA_rmaps_base_oversubscribe",     "1"             },
      {"OMPI_MCA_ess_base_forward_signals",     "none"          },
      {"PRTE_ALLOW_RUN_AS_ROOT",                "1"             },
      {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",        "1"             },
      {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"}
  };
  if (const char* folder = std::getenv("TMPDIR"))
    all.emplace_back("OMPI_MCA_btl_vader_backing_directory", folder);
  return all;
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

// The program that is started, and starts the others.
std::string first_program(const Asked& asked) {
  if (asked.launcher == "own") return asked.program[0];
  const std::string word = words_of(asked.launcher)[0];
  return word == "{program}" ? asked.program[0] : word;
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

// Slurm's tasks are nobody's descendants here, and outlive an srun that is killed: the job, where srun asked
// for one, and the step.
std::string cancel_by_slurm(const std::string& name) {
  return fmt::format(
      "scancel --quiet --name={0}; squeue --steps --noheader --format='%i %j' | sed -n 's/ {0}$//p' | "
      "xargs -r scancel --quiet",
      name);
}

struct Exec {
  std::vector<std::string> argv, env;
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> out;
  for (char** e = environ; *e; ++e) {
    const std::string entry = *e;
    bool replaced = entry.starts_with("PLUMB_REQUESTS=") || entry.starts_with("PLUMB_REPLIES=");
    for (const auto& [name, value] : added) replaced |= entry.starts_with(name + "=");
    if (!replaced) out.push_back(entry);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  return out;
}

pid_t spawn_one(const Exec& e) {
  const std::vector<char*> argv = pointers(e.argv), env = pointers(e.env);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) fail("starting a rank");
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::setpgid(0, 0);
  ::execvpe(argv[0], argv.data(), env.data());
  ::dprintf(2, "plumb-launch: %s: %s\n", argv[0], ::strerror(errno));
  ::_exit(127);
}

// Children of this process, whose number the kernel lists.
std::vector<pid_t> children() {
  std::vector<pid_t> all;
  const std::string path = fmt::format("/proc/self/task/{}/children", ::getpid());
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"),
                                                   [](FILE* f) { return f ? std::fclose(f) : 0; });
  for (int pid = 0; file && std::fscanf(file.get(), "%d", &pid) == 1;) all.push_back(pid);
  return all;
}

bool is_stopped(pid_t pid) {
  siginfo_t how = {};
  return ::waitid(P_PID, static_cast<id_t>(pid), &how, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         how.si_pid == pid;
}

bool reap_until(std::chrono::steady_clock::time_point until) {
  while (true) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0 && errno == ECHILD) return true;
    if (pid == 0) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

}  // namespace

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
  if (asked.ranks == 0) refuse("how many --ranks?");
  if (asked.program.empty()) refuse("which program? It stands after --");
  if (words_of(asked.launcher).empty()) refuse("--launcher: it is blank");
  const bool known = asked.launcher == "own" || asked.launcher == "mpiexec" || asked.launcher == "srun" ||
                     asked.launcher == "flux";
  if (!known && asked.launcher.find("{program}") == std::string::npos)
    refuse(fmt::format("no launcher '{}': own, mpiexec, srun, flux, or a command with {{program}}",
                       asked.launcher));
  return asked;
}

bool one_by_one(const Asked& asked) {
  return asked.launcher == "own" || asked.launcher.find("{rank}") != std::string::npos;
}

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

void look_for_program(const Asked& asked) {
  const std::string program = first_program(asked);
  if (on_path(program)) return;
  const std::string beside = beside_this(program);
  throw std::invalid_argument(fmt::format("plumb-launch: no program '{}'{}", program,
                                          program == "mpiexec" ? ": install an MPI, or load its module"
                                          : !beside.empty()    ? fmt::format(" on PATH; it is {}", beside)
                                                               : std::string()));
}

Job start(const Asked& asked, const Variables& variables, const std::string& file) {
  Variables added = of_the_library();
  Passed passed{{}, file};
  for (const auto& one : variables) added.push_back(one), passed.names.push_back(one.first);
  Job job{{}, one_by_one(asked) ? "" : first_program(asked), {}};
  if (asked.launcher == "srun") job.cancel = cancel_by_slurm(name_of_job(passed));
  if (!one_by_one(asked)) {
    job.pids.push_back(spawn_one({command(asked, passed), environment(added)}));
    return job;
  }
  added.emplace_back("PLUMB_WORLD", std::to_string(asked.ranks));
  added.emplace_back("PLUMB_RANK", "");
  for (; passed.rank < asked.ranks; ++passed.rank) {
    added.back().second = std::to_string(passed.rank);
    job.pids.push_back(spawn_one({command(asked, passed), environment(added)}));
  }
  return job;
}

void end(const Job& job, std::chrono::milliseconds patience) {
  if (reap_until(std::chrono::steady_clock::now() + patience)) return;
  for (pid_t pid : job.pids) {
    ::kill(pid, SIGTERM);
    if (is_stopped(pid)) ::kill(pid, SIGCONT);
  }
  bool gone = reap_until(std::chrono::steady_clock::now() + grace);
  if (!gone && !job.cancel.empty()) {
    const int ran = std::system(("{ " + job.cancel + "; } >/dev/null 2>&1").c_str());
    if (ran == 0) gone = reap_until(std::chrono::steady_clock::now() + std::chrono::seconds(1));
  }
  // Whoever is killed leaves orphans, and this process adopts them.
  for (int again = 0; !gone && again < 1000; ++again) {
    for (pid_t pid : children()) ::kill(pid, SIGKILL);
    gone = reap_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(10));
  }
}

std::string ended(const Job& job) {
  for (std::size_t i = 0; i < job.pids.size(); ++i) {
    siginfo_t how = {};
    if (::waitid(P_PID, static_cast<id_t>(job.pids[i]), &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        how.si_pid == 0)
      continue;
    const std::string who = job.command.empty() ? fmt::format("rank {}", i) : job.command;
    if (how.si_code == CLD_EXITED) return fmt::format("{} exited with code {}", who, how.si_status);
    return fmt::format("{} was killed by signal {} ({})", who, how.si_status, ::strsignal(how.si_status));
  }
  return "";
}

}  // namespace plumb::launch
