#include "adapters/protocol/clocked.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

#include "adapters/protocol/ranks.h"
#include "reference/words/fnv.h"

namespace plumb {
namespace {

std::int64_t now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

// One start of one machine, as its namespace of time shows it.
std::int64_t this_clock() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> space{};
  [[maybe_unused]] const auto n = ::readlink("/proc/self/ns/time", space.data(), space.size() - 1);
  return static_cast<std::int64_t>(fnv(boot + space.data()) >> 1);
}

// The times on which ranks agreed to begin.
struct Window {
  std::int64_t begin = 0, width = 0;
  std::int64_t start(std::int64_t iteration) const { return begin + iteration * width; }
};

// The first rank says when, from how long a warm-up took it; twice that, so that few are late.
Window agreed(const Stages& stages, std::int64_t id, std::int64_t longest) {
  constexpr std::int64_t to_hear_of_it = 20'000'000, least = 20'000;
  const std::string key = fmt::format("window {}", id);
  const Window own{now() + to_hear_of_it, 2 * longest + least};
  if (stages.ranks == 1) return own;
  if (stages.rank == 0) put_shared(key, fmt::format("{} {} {}", this_clock(), own.begin, own.width));
  std::int64_t clock = 0;
  Window window;
  const std::string said = get_shared(key);
  if (std::sscanf(said.c_str(), "%ld %ld %ld", &clock, &window.begin, &window.width) != 3 ||
      clock != this_clock())
    throw std::runtime_error("ranks cannot begin at one time: the clock here is another than that of rank 0");
  return window;
}

std::int64_t warm_up(const Stages& stages, const Timing& timing) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < timing.warmups; ++i) {
    if (stages.restore) stages.restore();
    const std::int64_t begin = now();
    for (std::int64_t k = 0; k < timing.batch; ++k) stages.once();
    longest = std::max(longest, now() - begin);
  }
  return longest;
}

// Whether it came in time.
bool begin_together(const Stages& stages, Sync sync, std::int64_t start) {
  if (sync == Sync::barrier && stages.meet) stages.meet();
  if (sync != Sync::window) return true;
  const bool early = now() < start;
  while (now() < start) {
  }
  return early;
}

// When something was entered and left.
struct Turn {
  std::int64_t enter = 0, leave = 0;
};

Turn timed_turn(const Stages& stages, std::int64_t batch) {
  const std::int64_t enter = now();
  for (std::int64_t k = 0; k < batch; ++k) stages.once();
  return {enter, now()};
}

void add(Clocked& said, const Turn& turn) {
  said.enter.push_back(turn.enter), said.leave.push_back(turn.leave);
}

}  // namespace

Clocked clocked(const Stages& stages, const Timing& timing, std::int64_t id,
                const std::function<void()>& first) {
  Clocked said{this_clock(), {}, {}};
  said.enter.reserve(timing.iterations), said.leave.reserve(timing.iterations);
  const std::int64_t longest = warm_up(stages, timing);
  const Window window = timing.sync == Sync::window ? agreed(stages, id, longest) : Window{};
  for (std::int64_t i = 0; i < timing.iterations; ++i) {
    if (stages.restore) stages.restore();
    if (stages.wipe && (i == 0 || i + 1 == timing.iterations)) stages.wipe();
    const bool early = begin_together(stages, timing.sync, window.start(i));
    const auto [enter, leave] = timed_turn(stages, timing.batch);
    said.enter.push_back(early ? enter : -1), said.leave.push_back(early ? leave : -1);
    if (i == 0) first();
  }
  return said;
}

namespace {

// What took so long by another clock, whose times begin elsewhere.
Turn just_now(std::int64_t took) {
  const std::int64_t leave = now();
  return {leave - took, leave};
}

std::optional<Clocked> plain_turns(const Stages& stages, std::int64_t iterations) {
  const auto call = stages.call ? stages.call() : nullptr;
  if (!call) return std::nullopt;
  Clocked said{this_clock(), {}, {}};
  call();
  for (std::int64_t i = 0; i < iterations; ++i) add(said, just_now(call()));
  return said;
}

// Ours, the plain call; the plain call, ours; and so on: what comes first has no advantage.
std::optional<Clocked> turns_of_both(const Stages& stages, std::int64_t iterations) {
  const auto call = stages.call ? stages.call() : nullptr;
  if (!call) return std::nullopt;
  Clocked said{this_clock(), {}, {}};
  const auto ours = [&] {
    if (stages.restore) stages.restore();
    begin_together(stages, Sync::barrier, 0);
    return timed_turn(stages, 1);
  };
  ours(), call();
  for (std::int64_t i = 0; i < iterations; ++i) {
    add(said, i % 4 == 0 || i % 4 == 3 ? ours() : just_now(call()));
  }
  return said;
}

}  // namespace

std::optional<Clocked> clocked_limit(const Stages& stages, const std::string& what, std::size_t bytes,
                                     std::int64_t iterations) {
  if (what == "call") return plain_turns(stages, iterations);
  if (what == "both") return turns_of_both(stages, iterations);
  Stages bare = stages;
  bare.once = stages.limit ? stages.limit(what, bytes) : nullptr;
  if (!bare.once) return std::nullopt;
  bare.wipe = bare.restore = nullptr;
  return clocked(bare, {.warmups = 1, .iterations = iterations}, 0, [] {});
}

}  // namespace plumb
