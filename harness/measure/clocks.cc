#include "harness/measure/clocks.h"

#include <algorithm>
#include <set>

namespace plumb {
namespace {

constexpr double second = 1e9;

double number(std::int64_t n) { return static_cast<double>(n); }

// Nanoseconds a nanosecond.
double slope(const Clocked& c) {
  const std::int64_t apart = c.after.at - c.before.at;
  return apart <= 0 ? 0 : number(c.after.offset - c.before.offset) / number(apart);
}

bool saw(const Clocked& c) { return c.before.error > 0 && c.after.error > 0; }

}  // namespace

std::vector<ClockSeen> clocks_seen(const std::vector<Clocked>& all) {
  std::vector<ClockSeen> seen;
  std::set<std::int64_t> known;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Clocked& c = all[r];
    if (!known.insert(c.clock).second || c.clock == all[0].clock || !saw(c)) continue;
    const double apart = std::max(1.0, number(c.after.at - c.before.at)), per_second = second / apart;
    seen.push_back({static_cast<std::int64_t>(r), number(c.before.offset), number(c.before.error),
                    slope(c) * second, number(c.before.error + c.after.error) * per_second});
  }
  return seen;
}

double on_first_clock(const Clocked& c, std::int64_t time) {
  if (!saw(c)) return number(time);
  return number(time) + number(c.before.offset) + slope(c) * number(time - c.before.at);
}

double error_of_clock(const Clocked& c) {
  return saw(c) ? number(std::max(c.before.error, c.after.error)) : 0;
}

}  // namespace plumb
