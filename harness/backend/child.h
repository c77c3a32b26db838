// A program with a line to it and a line from it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/backend/folder.h"
#include "harness/backend/orphans.h"

namespace plumb {

using Clock = std::chrono::steady_clock;

// A message is no longer than this, its end included.
inline constexpr std::size_t longest_message = std::size_t{256} << 20;

// What is started: a program, what its environment has beside ours, and how long after SIGTERM it is killed.
struct Launch {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::chrono::milliseconds grace{0};
};

// The program leads a process group of its own, reads requests from one pipe and writes replies to
// another, both named in its environment. It ends with this object, and so does all that it started
// (orphans.h) and the folder that it has for temporary files, which TMPDIR names.
class Child {
 public:
  // Throws std::system_error where the machine gives no process; a program that cannot be executed
  // ends with 127.
  explicit Child(const Launch&);
  ~Child();
  Child(const Child&) = delete;

  enum class Wait { ready, late, ended, too_long };

  // Sends a line, whose end it adds.
  Wait send(std::string line, Clock::time_point deadline);

  // Waits for the next line, without its end; valid until the next call. `late` once the deadline has passed
  // and what was here to read had no end of a line. Throws Interrupted.
  Wait receive(std::string_view& line, Clock::time_point deadline);

  // Whether a line is here already, and what came behind the last one.
  bool pending();
  std::string_view unfinished() const { return std::string_view(buffer_).substr(used_); }

  // The program and what it started, a line each.
  std::vector<std::string> processes() const;

  // Ends the program and all that it started, reaps it and says how it ended: "exited with code 3", "killed
  // by signal 11 (Segmentation fault)", or "killed" where it did not within `wait` or until an interrupt. It
  // is told so first, by SIGTERM to its group, where it has a grace.
  std::string end(std::chrono::milliseconds wait);

  // No more requests; the program is expected to end.
  void close_requests();

  // The last lines it printed, as UTF-8.
  std::string last_words() const;
  void forget_words();

 private:
  Wait wait(int descriptor, short events, Clock::time_point deadline);
  bool ends_within(std::chrono::milliseconds, int until_readable = -1) const;
  bool find_line(std::string_view& line);

  Started started_;
  TemporaryFolder folder_;
  std::chrono::milliseconds grace_;
  pid_t pid_ = -1;
  int ended_ = -1;                    // readable once the program has ended
  int requests_ = -1, replies_ = -1;  // our ends, nonblocking
  int printed_ = -1;                  // its standard output and standard error
  std::string buffer_;
  std::size_t used_ = 0, scanned_ = 0;  // of buffer_: handed out, and known to hold no end of line
};

}  // namespace plumb
