#include "adapters/protocol/clocked.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "adapters/protocol/ranks.h"
#include "reference/words/fnv.h"

namespace plumb {
namespace {

std::int64_t now(const Stages& stages) { return stages.now ? stages.now() : machine_time(); }

// Of a planted clock another number than that of the machine.
std::int64_t clock_of(const Stages& stages) {
  return stages.now ? this_clock() ^ (stages.rank + 1) : this_clock();
}

Sight sight(const Stages& stages) {
  if (!stages.ask_clock) return {};
  const std::vector<Ping> all = stages.ask_clock([&] { return now(stages); });
  return all.empty() ? Sight{} : best_sight(all);
}

// The times on which ranks agreed to begin.
struct Window {
  std::int64_t begin = 0, width = 0;
  std::int64_t start(std::int64_t iteration) const { return begin + iteration * width; }
};

// The first rank says when, from how long a warm-up took it; twice that, so that few are late. Another clock
// is told the time by what it saw of the first one's.
Window agreed(const Stages& stages, std::int64_t id, std::int64_t longest, const Sight& seen) {
  constexpr std::int64_t to_hear_of_it = 20'000'000, least = 20'000;
  const std::string key = fmt::format("window {}", id);
  const Window own{now(stages) + to_hear_of_it, 2 * longest + least};
  if (stages.ranks == 1) return own;
  if (stages.rank == 0) put_shared(key, fmt::format("{} {} {}", clock_of(stages), own.begin, own.width));
  std::int64_t clock = 0;
  Window window;
  const std::string said = get_shared(key);
  const bool read = std::sscanf(said.c_str(), "%ld %ld %ld", &clock, &window.begin, &window.width) == 3;
  if (!read || (clock != clock_of(stages) && seen.error == 0))
    throw std::runtime_error("ranks cannot begin at one time: the clock here is another than that of rank 0");
  window.begin -= seen.offset;
  return window;
}

void go_on(const Stages& stages) {
  if (stages.goes_on) stages.goes_on();
}

std::int64_t warm_up(const Stages& stages, const Timing& timing) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < timing.warmups; ++i) {
    go_on(stages);
    if (stages.restore) stages.restore();
    const std::int64_t begin = now(stages);
    for (std::int64_t k = 0; k < timing.batch; ++k) stages.once();
    longest = std::max(longest, now(stages) - begin);
  }
  return longest;
}

void meet(const Stages& stages, Sync sync) {
  if (sync == Sync::barrier && stages.meet) stages.meet();
}

// Waits until a window begins, asleep but for the last of it: who has spun for long is the first to lose its core.
// Whether it came in time, and was there when the time had come: who lost its core
// while it waited begins later than others, who wait for it within the run. A fiftieth of a window is late.
bool in_time(const Stages& stages, const Window& window, std::int64_t iteration) {
  const std::int64_t start = window.start(iteration);
  std::int64_t at = now(stages);
  const bool early = at < start;
  constexpr std::int64_t awake = 1'000'000;
  if (start - at > awake) std::this_thread::sleep_for(std::chrono::nanoseconds(start - at - awake));
  while (at < start) at = now(stages);
  return early && at - start <= window.width / 50;
}

Turn timed_turn(const Stages& stages, std::int64_t batch) {
  const std::int64_t enter = now(stages);
  for (std::int64_t k = 0; k < batch; ++k) stages.once();
  return {enter, now(stages)};
}

// A run that changes its operands begins but the first time in a batch with what the run before left of them:
// then one run more, on those that were loaded, makes what is proved.
void make_what_is_proved(const Stages& stages, std::int64_t batch) {
  if (!stages.restore || batch == 1) return;
  stages.restore();
  if (stages.wipe) stages.wipe();
  stages.once();
}

void add(Clocked& said, const Turn& turn) {
  said.enter.push_back(turn.enter), said.leave.push_back(turn.leave);
}

}  // namespace

std::int64_t machine_time() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

std::int64_t this_clock() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> space{};
  [[maybe_unused]] const auto n = ::readlink("/proc/self/ns/time", space.data(), space.size() - 1);
  return static_cast<std::int64_t>(fnv(boot + space.data()) >> 1);
}

Clocked clocked(const Stages& stages, const Timing& timing, std::int64_t id,
                const std::function<void()>& first) {
  Clocked said{clock_of(stages), {}, {}};
  said.enter.reserve(timing.iterations), said.leave.reserve(timing.iterations);
  const std::int64_t longest = warm_up(stages, timing);
  said.before = sight(stages);
  const Window window = timing.sync == Sync::window ? agreed(stages, id, longest, said.before) : Window{};
  for (std::int64_t i = 0; i < timing.iterations; ++i) {
    go_on(stages);
    if (stages.restore) stages.restore();
    const bool proved = i == 0 || i + 1 == timing.iterations;
    if (stages.wipe && proved) stages.wipe();
    meet(stages, timing.sync);
    const bool early = timing.sync != Sync::window || in_time(stages, window, i);
    const auto [enter, leave] = timed_turn(stages, timing.batch);
    said.enter.push_back(early ? enter : -1), said.leave.push_back(early ? leave : -1);
    if (proved) make_what_is_proved(stages, timing.batch);
    if (i == 0) first();
  }
  said.after = sight(stages);
  return said;
}

namespace {

// What took so long by another clock, whose times begin elsewhere.
Turn just_now(const Stages& stages, std::int64_t took) {
  const std::int64_t leave = now(stages);
  return {leave - took, leave};
}

std::optional<Clocked> plain_turns(const Stages& stages, std::int64_t iterations) {
  const auto call = stages.call ? stages.call() : nullptr;
  if (!call) return std::nullopt;
  Clocked said{clock_of(stages), {}, {}};
  call();
  for (std::int64_t i = 0; i < iterations; ++i) {
    go_on(stages);
    add(said, just_now(stages, call()));
  }
  return said;
}

// Ours, the plain call; the plain call, ours; and so on: what comes first has no advantage.
std::optional<Clocked> turns_of_both(const Stages& stages, std::int64_t iterations) {
  const auto call = stages.call ? stages.call() : nullptr;
  if (!call) return std::nullopt;
  Clocked said{clock_of(stages), {}, {}};
  const auto ours = [&] {
    if (stages.restore) stages.restore();
    meet(stages, Sync::barrier);
    return timed_turn(stages, 1);
  };
  ours(), call();
  for (std::int64_t i = 0; i < iterations; ++i) {
    go_on(stages);
    add(said, i % 4 == 0 || i % 4 == 3 ? ours() : just_now(stages, call()));
  }
  return said;
}

// The moment in which a run was entered, each of its collectives, and the moment in which it was left.
// Nothing where there were not as many. A clock that is planted is set against the machine's by looking at
// both, between which others may have the processor: nothing is moved out of its order.
std::optional<Clocked> turns_of_collectives(const Stages& stages, std::int64_t wanted) {
  if (!stages.collectives) return std::nullopt;
  Clocked said{clock_of(stages), {}, {}};
  if (stages.restore) stages.restore();
  meet(stages, Sync::barrier);
  const std::int64_t ahead = stages.now ? stages.now() - machine_time() : 0;
  const std::int64_t enter = now(stages);
  const std::vector<Turn> turns = stages.collectives();
  const std::int64_t leave = now(stages);
  add(said, {enter, enter});
  auto in_order = [&, before = enter](std::int64_t time) mutable {
    return before = std::clamp(time + ahead, before, leave);
  };
  for (const Turn& one : turns) {
    const std::int64_t entered = in_order(one.enter);
    add(said, {entered, in_order(one.leave)});
  }
  add(said, {leave, leave});
  return std::ssize(said.enter) == wanted ? std::optional(said) : std::nullopt;
}

}  // namespace

std::optional<Clocked> clocked_limit(const Stages& stages, const std::string& what, std::size_t bytes,
                                     const Timing& timing) {
  const std::int64_t iterations = timing.iterations;
  if (what == "call") return plain_turns(stages, iterations);
  if (what == "both") return turns_of_both(stages, iterations);
  if (what == "collectives") return turns_of_collectives(stages, iterations);
  Stages bare = stages;
  bare.once = stages.limit ? stages.limit(what, bytes) : nullptr;
  if (!bare.once) return std::nullopt;
  bare.wipe = bare.restore = nullptr, bare.ask_clock = nullptr;
  return clocked(bare, {.warmups = 1, .iterations = iterations, .batch = timing.batch}, 0, [] {});
}

}  // namespace plumb
