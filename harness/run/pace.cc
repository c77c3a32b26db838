#include "harness/run/pace.h"

#include <algorithm>

#include "harness/measure/statistics.h"

namespace plumb {
namespace {

std::int64_t so_far(const Samples& all) { return std::ssize(all.nanoseconds) + all.late; }

bool all_late(const Samples& all) { return all.nanoseconds.empty() && all.late > 0; }

}  // namespace

double nanoseconds_each(const Samples& all) {
  const std::int64_t n = std::ssize(all.nanoseconds);
  return n == 0 ? 0 : std::max<double>(1, static_cast<double>(all.span) / static_cast<double>(n));
}

// As many as there are already, as far as the seconds go; first of all one, where nobody knows how long it
// takes, and then no more than eight times as many: of one alone it is not seen how long ranks wait before
// it. Where all were late what asking took says little of them, and twice as many are asked for.
std::int64_t next_iterations(const Pace& pace, const Samples& all, double spent) {
  if (pace.timing.iterations > 0) return pace.timing.iterations;
  constexpr double first = 8, most_more = 8;
  const auto before = static_cast<double>(so_far(all)), room = static_cast<double>(most_samples) - before;
  const double seconds = pace.seconds * nanoseconds_of_a_second;
  double wanted = 1;
  if (all_late(all)) {
    wanted = 2 * before;
  } else if (pace.each > 0) {
    wanted = std::max(before, seconds / first / pace.each);
    if (before > 0) wanted = std::min(wanted, most_more * before);
    wanted = std::min(wanted, (seconds - spent) / pace.each);
  }
  return static_cast<std::int64_t>(std::max(1.0, std::min(wanted, room)));
}

std::string stop(const Pace& pace, const Samples& all, double spent) {
  const bool over = spent + pace.each > pace.seconds * nanoseconds_of_a_second;
  if (pace.timing.iterations > 0) return all_late(all) && !over ? "" : "iterations";
  if (settled(all.nanoseconds)) return "interval";
  if (over) return "budget";
  return so_far(all) >= most_samples ? "samples" : "";
}

double deadline(double run, const Timing& timing, double each) {
  return run + 4 * static_cast<double>(timing.iterations + timing.warmups) * each / nanoseconds_of_a_second;
}

}  // namespace plumb
