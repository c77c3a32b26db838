// Work on elements that do not depend on each other, in as many threads as there are cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace plumb::hlo {

// Calls f(begin, end) for parts of [0, n) that make it up, several at once where that is worth it: `cost`
// says how many multiplications or so each of the n takes. Throws what a call throws.
template <typename F>
void each_part(std::int64_t n, std::int64_t cost, F f) {
  constexpr std::int64_t kWorth = 1 << 16;  // more than to begin a thread
  static const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t parts = std::max<std::int64_t>(1, std::min({n, cores, n * cost / kWorth}));
  std::vector<std::future<void>> others;
  for (std::int64_t p = 1; p < parts; ++p)
    others.push_back(std::async(std::launch::async, f, n * p / parts, n * (p + 1) / parts));
  f(std::int64_t{0}, n / parts);
  for (auto& other : others) other.get();
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
