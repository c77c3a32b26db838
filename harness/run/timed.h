// A clock.
#pragma once

#include <chrono>

namespace plumb {

// Adds the seconds that a call takes.
template <class F>
auto timed(double& seconds, F&& call) {
  const auto begin = std::chrono::steady_clock::now();
  auto value = call();
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return value;
}

}  // namespace plumb
