#include "harness/backend/child.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <system_error>

#include "adapters/protocol/fields.h"
#include "harness/backend/interrupt.h"
#include "harness/backend/processes.h"
#include "harness/backend/spawn.h"

namespace plumb {

namespace {

constexpr off_t most_printed = 64 << 20;  // of what a program prints, this much is kept
constexpr off_t last_printed = 4096;      // and this much is read
constexpr std::chrono::seconds look_again{1};

// write(2) that gives EPIPE without the signal.
ssize_t write_quietly(int fd, const char* data, std::size_t size) {
  sigset_t pipe, before;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t n = ::write(fd, data, size);
  const int error = errno;
  constexpr timespec now = {};
  if (n < 0 && error == EPIPE && !::sigismember(&before, SIGPIPE)) ::sigtimedwait(&pipe, nullptr, &now);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::min<Clock::duration>(deadline - Clock::now(), look_again);
  return std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

// A program that prints without end costs no more memory than this.
void forget_beginning(int file) {
  struct stat about = {};
  if (::fstat(file, &about) == 0 && about.st_blocks > most_printed / 512)
    ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, about.st_size - most_printed / 2);
}

std::string name_of_next() {
  static std::atomic<int> number = 0;
  return fmt::format("{}.{}", ::getpid(), ++number);
}

std::string describe(const siginfo_t& how) {
  if (how.si_code == CLD_EXITED) return fmt::format("exited with code {}", how.si_status);
  return fmt::format("killed by signal {} ({})", how.si_status, ::strsignal(how.si_status));
}

}  // namespace

Child::Child(const Launch& launch) : started_{.name = name_of_next()}, grace_(launch.grace) {
  auto named = launch.env;
  named.emplace_back(program_variable, started_.name);
  if (!folder_.path().empty()) named.emplace_back("TMPDIR", folder_.path());
  const Spawned s = spawn(launch.argv, named);
  pid_ = started_.program = s.pid, requests_ = s.requests, replies_ = s.replies, printed_ = s.printed;
  ended_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (ended_ < 0) {
    const int error = errno;
    end(std::chrono::milliseconds{0});
    throw std::system_error(error, std::generic_category(), "watching a program");
  }
}

Child::~Child() {
  end(std::chrono::milliseconds{0});
  for (int fd : {ended_, requests_, replies_, printed_})
    if (fd >= 0) ::close(fd);
}

Child::Wait Child::wait(int descriptor, short events, Clock::time_point deadline) {
  while (true) {
    std::array<pollfd, 3> fds = {
        {{descriptor, events, 0}, {ended_, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}}
    };
    const int timeout = milliseconds_until(deadline);
    const int n = ::poll(fds.data(), fds.size(), timeout);
    if (interrupted()) throw Interrupted{};
    if (fds[0].revents & events) return Wait::ready;
    if (n > 0 && (fds[0].revents || fds[1].revents)) return Wait::ended;
    if (Clock::now() >= deadline) return Wait::late;
    if (n == 0) forget_beginning(printed_);
  }
}

Child::Wait Child::send(std::string line, Clock::time_point deadline) {
  line += '\n';
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t n = write_quietly(requests_, line.data() + at, line.size() - at);
    if (n > 0) {
      at += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (const Wait w = wait(requests_, POLLOUT, deadline); w != Wait::ready) return w;
    } else if (errno != EINTR) {
      return Wait::ended;
    }
  }
  return Wait::ready;
}

bool Child::find_line(std::string_view& line) {
  const std::size_t end = buffer_.find('\n', scanned_);
  scanned_ = end == std::string::npos ? buffer_.size() : end + 1;
  if (end == std::string::npos) return false;
  line = std::string_view(buffer_).substr(used_, end - used_);
  used_ = end + 1;
  return true;
}

bool Child::pending() { return buffer_.find('\n', scanned_) != std::string::npos; }

Child::Wait Child::receive(std::string_view& line, Clock::time_point deadline) {
  if (find_line(line)) return Wait::ready;
  buffer_.erase(0, used_);
  scanned_ -= used_;
  used_ = 0;
  std::array<char, 64 * 1024> chunk;
  while (true) {
    const Wait w = wait(replies_, POLLIN, deadline);
    if (w != Wait::ready) return w;
    const ssize_t n = ::read(replies_, chunk.data(), chunk.size());
    if (n == 0) return Wait::ended;
    if (n < 0) continue;
    buffer_.append(chunk.data(), static_cast<std::size_t>(n));
    if (find_line(line)) return line.size() < longest_message ? Wait::ready : Wait::too_long;
    if (buffer_.size() >= longest_message) return Wait::too_long;
    if (Clock::now() >= deadline) return Wait::late;
  }
}

void Child::close_requests() {
  look_for(started_);  // while their parent lives
  if (requests_ >= 0) ::close(std::exchange(requests_, -1));
}

bool Child::ends_within(std::chrono::milliseconds time, int until_readable) const {
  std::array<pollfd, 2> fds = {
      {{ended_, POLLIN, 0}, {until_readable, POLLIN, 0}}
  };
  return ended_ >= 0 && ::poll(fds.data(), fds.size(), static_cast<int>(time.count())) > 0 && fds[0].revents;
}

std::string Child::end(std::chrono::milliseconds wait) {
  if (pid_ < 0) return "";
  look_for(started_);
  const bool by_itself = ends_within(wait, interrupt_descriptor());
  if (!by_itself && grace_.count() > 0) {
    const auto until = Clock::now() + grace_;
    ::kill(-pid_, SIGTERM);
    ends_within(grace_);
    wait_for(started_, until);
  }
  // The group before the program: until it is reaped nobody else can have its number.
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  siginfo_t how = {};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  end_started(started_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  folder_.remove();
  return by_itself ? describe(how) : "killed";
}

std::vector<std::string> Child::processes() const { return process_tree(pid_, started_.name); }

std::string Child::last_words() const {
  struct stat about = {};
  if (::fstat(printed_, &about) != 0) return "";
  const off_t from = std::max<off_t>(0, about.st_size - last_printed);
  std::string words(static_cast<std::size_t>(about.st_size - from), '\0');
  const ssize_t n = ::pread(printed_, words.data(), words.size(), from);
  words.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (from > 0) words.erase(0, std::min(words.find('\n'), words.size() - 1) + 1);  // a line that is cut
  while (!words.empty() && (words.back() == '\n' || words.back() == '\0')) words.pop_back();
  return utf8(words);
}

void Child::forget_words() {
  struct stat about = {};
  if (::fstat(printed_, &about) == 0 && about.st_size > 0) [[maybe_unused]]
    const int done = ::ftruncate(printed_, 0);
}

}  // namespace plumb
