#include "harness/run/pace.h"

#include <algorithm>

#include "harness/measure/statistics.h"

namespace plumb {
namespace {

std::int64_t so_far(const Samples& all) { return std::ssize(all.nanoseconds) + all.late; }

bool spent(const Pace& pace, const Samples& all) {
  return static_cast<double>(all.span) + pace.each > pace.seconds * nanoseconds_of_a_second;
}

}  // namespace

double nanoseconds_each(const Samples& all) {
  const std::int64_t n = so_far(all);
  return n == 0 ? 0 : std::max<double>(1, static_cast<double>(all.span) / static_cast<double>(n));
}

// As many as there are already, as far as the seconds go; first of all one, where nobody knows how long it
// takes, and then no more than eight times as many: of one alone it is not seen how long ranks wait before
// it.
std::int64_t next_iterations(const Pace& pace, const Samples& all) {
  if (pace.timing.iterations > 0) return pace.timing.iterations;
  if (pace.each <= 0) return 1;
  constexpr double first = 8;
  constexpr std::int64_t most_more = 8;
  const double seconds = pace.seconds * nanoseconds_of_a_second,
               left = seconds - static_cast<double>(all.span);
  const auto fits = static_cast<std::int64_t>(std::max(1.0, left / pace.each));
  const std::int64_t before = so_far(all);
  auto wanted = std::max<std::int64_t>(before, static_cast<std::int64_t>(seconds / first / pace.each));
  if (before > 0) wanted = std::min(wanted, most_more * before);
  return std::clamp<std::int64_t>(std::min(fits, wanted), 1,
                                  most_samples - std::min(before, most_samples - 1));
}

std::string stop(const Pace& pace, const Samples& all) {
  if (pace.timing.iterations > 0) return "iterations";
  if (settled(all.nanoseconds)) return "interval";
  if (spent(pace, all)) return "budget";
  return so_far(all) >= most_samples ? "samples" : "";
}

double deadline(double run, const Timing& timing, double each) {
  return run + 4 * static_cast<double>(timing.iterations + timing.warmups) * each / nanoseconds_of_a_second;
}

}  // namespace plumb
