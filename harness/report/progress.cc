#include "harness/report/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "harness/report/paint.h"
#include "reference/words/text.h"

namespace plumb {

std::string duration(double seconds) {
  const auto s = static_cast<std::int64_t>(std::ceil(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

std::string progress_line(const Progress& p) {
  std::string line = fmt::format("{}/{}", p.done, counted(p.total, "case"));
  if (p.done > 0 && p.seconds > 0) {
    const double rate = static_cast<double>(p.done) / p.seconds;
    line += rate >= 10 ? fmt::format(", {:.0f}/s", rate) : fmt::format(", {:.2g}/s", rate);
    line += fmt::format(", {} left", duration(static_cast<double>(p.total - p.done) / rate));
  }
  return line + ", " + counted(p.findings, "finding");
}

void draw_progress(const Progress& p) { draw_progress(progress_line(p)); }

void draw_progress(std::string line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    line.resize(std::min<std::size_t>(line.size(), size.ws_col - 1));
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
}

void clear_progress() {
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

LongWork::LongWork() : shown_(moves_its_cursor(STDERR_FILENO)), next_(shown_ ? 1 : 10) {}

double LongWork::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void LongWork::tell(const std::string& how) {
  const double now = seconds();
  if (now < next_) return;
  if (shown_)
    draw_progress(how);
  else
    fmt::print(stderr, "plumb: after {}: {}\n", duration(now), how);
  next_ = shown_ ? now + 0.1 : 2 * now, drawn_ = shown_;
}

void LongWork::clear() {
  if (drawn_) clear_progress();
  drawn_ = false;
}

}  // namespace plumb
