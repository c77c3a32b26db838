// How a case is timed, and what the clocks of its ranks said.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "adapters/protocol/sight.h"

namespace plumb {

// How ranks begin an iteration: as they come, after they have met, or at a time on which they agreed.
enum class Sync : std::uint8_t { none, barrier, window };
std::string_view name(Sync);
std::optional<Sync> sync_named(std::string_view);

// All ranks are asked the same. An iteration is `batch` runs without a pause.
struct Timing {
  std::int64_t warmups = 0, iterations = 1, batch = 1;
  Sync sync = Sync::barrier;
};

// When something was entered and left, in nanoseconds.
struct Turn {
  std::int64_t enter = 0, leave = 0;
};

// Of one rank: when it entered and left each iteration, in nanoseconds; -1 and -1 where it came too late to
// the time on which all had agreed. Times of equal `clock` may be compared.
struct Clocked {
  std::int64_t clock = 0;
  std::vector<std::int64_t> enter, leave;
  Sight before{}, after{};  // of the first rank's clock, around the iterations; an error of 0: it saw nothing
};

// A row of the arena: the clock, then enter and leave of each iteration.
inline std::size_t words_of_a_clock(std::int64_t iterations) {
  return 1 + 2 * static_cast<std::size_t>(iterations);
}
std::vector<std::int64_t> clock_row(const Clocked&);
Clocked clock_from(const std::vector<std::int64_t>& row);

// Another row, of what it saw: at, offset and error before and after.
constexpr std::size_t words_of_sights = 6;
std::vector<std::int64_t> sights_row(const Clocked&);
void take_sights(Clocked&, const std::vector<std::int64_t>& row);

}  // namespace plumb
