#include "harness/backend/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <system_error>

extern char** environ;

namespace plumb {

namespace {

[[noreturn]] void fail_at(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// A descriptor above the standard three, closed with this object unless released.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int from) : fd(from) {
    if (fd < 0) fail_at("opening a channel");
    if (fd > 2) return;
    fd = ::fcntl(from, F_DUPFD_CLOEXEC, 3);
    ::close(from);
    if (fd < 0) fail_at("opening a channel");
  }
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int release() { return std::exchange(fd, -1); }
};

struct Pipe {
  Descriptor read, write;
  Pipe() : Pipe(open()) {}

 private:
  explicit Pipe(std::array<int, 2> ends) : read(ends[0]), write(ends[1]) {}
  static std::array<int, 2> open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_at("opening a channel");
    return ends;
  }
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment(std::vector<std::pair<std::string, std::string>> added) {
  std::vector<std::string> out;
  for (char** e = environ; *e; ++e) {
    const std::string_view entry = *e;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced |= entry.starts_with(name + "=");
    if (!replaced) out.emplace_back(entry);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  return out;
}

struct Exec {
  const char* path;
  char* const* argv;
  char* const* envp;
  int requests, replies, printed, nothing;
  pid_t parent;
};

// In the child, where only async-signal-safe functions may be called.
[[noreturn]] void execute(const Exec& e) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != e.parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) ::signal(signal, SIG_DFL);
  ::dup2(e.nothing, 0);
  ::dup2(e.printed, 1);
  ::dup2(e.printed, 2);
  ::fcntl(e.requests, F_SETFD, 0);
  ::fcntl(e.replies, F_SETFD, 0);
  ::execve(e.path, e.argv, e.envp);
  const std::string_view words =
      errno == ENOEXEC ? "the program cannot be executed: a script begins with #! and its interpreter\n"
                       : "the program cannot be executed\n";
  [[maybe_unused]] const ssize_t n = ::write(2, words.data(), words.size());
  ::_exit(127);
}

}  // namespace

Spawned spawn(const std::vector<std::string>& argv,
              const std::vector<std::pair<std::string, std::string>>& env) {
  Pipe requests, replies;
  Descriptor printed(::memfd_create("plumb-words", MFD_CLOEXEC));
  Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::fcntl(printed.fd, F_SETFL, O_APPEND);
  ::fcntl(requests.write.fd, F_SETFL, O_NONBLOCK);
  ::fcntl(replies.read.fd, F_SETFL, O_NONBLOCK);

  auto added = env;
  added.emplace_back("PLUMB_REQUESTS", std::to_string(requests.read.fd));
  added.emplace_back("PLUMB_REPLIES", std::to_string(replies.write.fd));
  const std::vector<std::string> strings = environment(std::move(added));
  const std::vector<char*> arguments = pointers(argv), variables = pointers(strings);
  const std::string path = find_program(argv.at(0));
  const Exec exec{path.c_str(),     arguments.data(), variables.data(), requests.read.fd,
                  replies.write.fd, printed.fd,       nothing.fd,       ::getpid()};
  const pid_t pid = ::fork();
  if (pid < 0) fail_at("starting a program");
  if (pid == 0) execute(exec);
  ::setpgid(pid, pid);  // whoever comes first
  return {pid, requests.write.release(), replies.read.release(), printed.release()};
}

namespace {

bool is_program(const std::string& path) {
  struct stat file;
  return ::stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_program(program) ? program : "";
  const char* variable = std::getenv("PATH");
  std::string_view path = variable ? variable : "/usr/bin:/bin";
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const std::string file = std::string(path.substr(0, end)) + "/" + program;
    if (end > 0 && is_program(file)) return file;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return "";
}

}  // namespace plumb
