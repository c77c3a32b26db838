#include "harness/backend/wall.h"

#include <fmt/format.h>
#include <sys/timex.h>

#include <algorithm>

#include "adapters/protocol/clocked.h"
#include "adapters/protocol/message.h"

namespace plumb {
namespace {

double in_seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// By how much a kernel lets a clock be corrected, of one: it says it in 2^-16 parts of a million. 1 where it does not.
double most_corrected() {
  timex said{};
  constexpr double parts = 65536.0 * 1e6;
  return ::adjtimex(&said) < 0 ? 1 : static_cast<double>(said.tolerance) / parts;
}

// Of all ranks with one clock: when the first of them entered, and the last of them left.
struct Spent {
  std::size_t rank = 0;  // the first of them
  std::int64_t enter = -1, leave = -1;
};

std::map<std::int64_t, Spent> spent_by_clock(const std::vector<Clocked>& clocks) {
  std::map<std::int64_t, Spent> all;
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    Spent& one = all.try_emplace(clocks[r].clock, Spent{r}).first->second;
    for (std::size_t i = 0; i < clocks[r].enter.size(); ++i) {
      if (clocks[r].enter[i] < 0) continue;  // it came late
      one.enter = one.enter < 0 ? clocks[r].enter[i] : std::min(one.enter, clocks[r].enter[i]);
      one.leave = std::max(one.leave, clocks[r].leave[i]);
    }
  }
  std::erase_if(all, [](const auto& of) { return of.second.enter < 0; });
  return all;
}

void check_own(const Spent& spent, const Wall& wall) {
  if (spent.enter < wall.sent)
    throw Malformed(fmt::format("the clock of rank {}, which is the harness's own: it was entered {:.4g} s before it was asked for",
                                spent.rank, in_seconds(wall.sent - spent.enter)));
  if (spent.leave > wall.received)
    throw Malformed(fmt::format("the clock of rank {}, which is the harness's own: it was left {:.4g} s after its reply had come",
                                spent.rank, in_seconds(spent.leave - wall.received)));
}

// What is known of how fast another clock may run beside the harness's, and how.
struct Slowest {
  double rate = 1;
  std::string words;
};

Slowest slowest_of(std::int64_t clock, std::int64_t first, const Rates& rates, const Wall& wall) {
  Slowest all;
  if (const auto at = rates.find(clock); clock != first && at != rates.end()) {
    all.rate += at->second.gains - at->second.error;
    all.words = fmt::format(", which saw that it runs {:.6f} times as fast as the first one's, give or take {:.2g}",
                            1 / (1 + at->second.gains), at->second.error);
    if (first == wall.clock) return all;
  }
  all.rate *= 1 - wall.apart;
  all.words += fmt::format(", and kernels let two clocks be {:g} parts of a million apart", wall.apart * 1e6);
  return all;
}

}  // namespace

Rates rates_of(const std::vector<Clocked>& all) {
  Rates rates;
  for (const Clocked& c : all) {
    const auto apart = static_cast<double>(c.after.at - c.before.at);
    if (c.clock == all[0].clock || c.before.error <= 0 || c.after.error <= 0 || apart <= 0) continue;
    rates[c.clock] = {static_cast<double>(c.after.offset - c.before.offset) / apart,
                      static_cast<double>(c.before.error + c.after.error) / apart};
  }
  return rates;
}

Wall wall_since(std::int64_t sent) {
  static const double apart = std::min(1.0, 2 * most_corrected());
  return {sent, machine_time(), this_clock(), apart};
}

void check_wall(const std::vector<Clocked>& clocks, const Rates& rates, const Wall& wall) {
  for (const auto& [clock, spent] : spent_by_clock(clocks)) {
    if (clock == wall.clock) {
      check_own(spent, wall);
      continue;
    }
    const auto [rate, words] = slowest_of(clock, clocks[0].clock, rates, wall);
    const std::int64_t claimed = spent.leave - spent.enter, took = wall.received - wall.sent;
    if (static_cast<double>(claimed) * rate > static_cast<double>(took))
      throw Malformed(fmt::format("the clock of rank {}: from the first entry to the last leaving {:.4g} s went by, and the request took {:.4g} s{}",
                                  spent.rank, in_seconds(claimed), in_seconds(took), words));
  }
}

}  // namespace plumb
