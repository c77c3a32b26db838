// Work on elements that do not depend on each other, in as many threads as there are cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace plumb::hlo {

// Called now and then by long work, in each thread that does it: it may throw, which ends the work.
using Pause = std::function<void()>;

constexpr std::int64_t kWorth = 1 << 16;  // multiplications or so: more than to wake a thread

// Counts the work that one thread does, in multiplications or so, and pauses after each piece.
struct Pace {
  static constexpr std::int64_t kPiece = kWorth;
  const Pause& pause;
  std::int64_t since = 0;

  void operator()(std::int64_t cost) {
    since += cost;
    if (since < kPiece) return;
    since = 0;
    if (pause) pause();
  }
};

std::int64_t threads();  // as many as there are cores

// Calls part(n) for each n below `parts`: in this thread, and in those that are free meanwhile. Throws what
// the first of those that throw does, when all have ended.
void at_once(std::int64_t parts, const std::function<void(std::int64_t)>& part);

// Calls f(begin, end) for parts of [0, n) that make it up, several at once where that is worth it: `cost`
// says how many multiplications or so each of the n takes. Throws what a call throws, and pauses between
// parts.
template <typename F>
void each_part(std::int64_t n, std::int64_t cost, F f, const Pause& pause = {}) {
  const std::int64_t parts = std::max<std::int64_t>(1, std::min({n, threads(), n * cost / kWorth}));
  const auto piecewise = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t most = std::max<std::int64_t>(1, Pace::kPiece / std::max<std::int64_t>(1, cost));
    for (std::int64_t next = begin; begin < end; begin = next) {
      next = pause ? std::min(end, begin + most) : end;
      f(begin, next);
      if (pause && next < end) pause();
    }
  };
  if (parts == 1) return piecewise(0, n);
  at_once(parts, [&](std::int64_t p) { piecewise(n * p / parts, n * (p + 1) / parts); });
}

// The elements [begin, end) of all lanes lane by lane, `size` to each: f(lane, from, to), from and to within
// it.
template <typename F>
void each_lane(std::int64_t begin, std::int64_t end, std::int64_t size, F f) {
  for (std::int64_t next; begin < end; begin = next) {
    const std::int64_t lane = begin / size;
    next = std::min(end, (lane + 1) * size);
    f(lane, begin - lane * size, next - lane * size);
  }
}

}  // namespace plumb::hlo
