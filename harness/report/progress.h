// How far a run is, in one line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace plumb {

struct Progress {
  std::int64_t done = 0, total = 0, findings = 0;
  double seconds = 0;  // since the run began
};

// "1200/8464 cases, 1650/s, 4 s left, 2 findings"
std::string progress_line(const Progress&);

std::string duration(double seconds);  // "4 s", "2 min 5 s", "3 h 20 min"

// The line on a terminal: drawn over itself, and taken away before other text.
void draw_progress(const Progress&);
void draw_progress(std::string line);
void clear_progress();

// How far one long piece of work is, told on standard error: a terminal shows it at all times, a log after
// 10 s and then each time it took twice as long.
class LongWork {
 public:
  LongWork();
  ~LongWork() { clear(); }
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;
  double seconds() const;             // since it began
  void tell(const std::string& how);  // looks at the clock
  void clear();                       // before other text

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const bool shown_;
  bool drawn_ = false;
  double next_;  // when it is told again
};

}  // namespace plumb
