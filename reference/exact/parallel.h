// Work on all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace plumb {

inline int cores() {
  static const int count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return count;
}

// Runs part(index) for index = 0 .. count-1, each on a thread of its own; the caller is thread 0.
template <class Part>
void parallel(int count, Part&& part) {
  std::vector<std::jthread> others;
  others.reserve(count > 0 ? count - 1 : 0);
  for (int i = 1; i < count; ++i) others.emplace_back([&part, i] { part(i); });
  part(0);
}

// The piece of [0, size) that is index's of `count`, its bounds multiples of `grain` but for the end.
struct Share {
  std::int64_t begin, end;
};
inline Share share(std::int64_t size, int count, int index, std::int64_t grain = 1) {
  const std::int64_t grains = (size + grain - 1) / grain;
  return {std::min(size, grains * index / count * grain),
          std::min(size, grains * (index + 1) / count * grain)};
}

}  // namespace plumb
