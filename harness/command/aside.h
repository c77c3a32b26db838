// A thread beside another one, which does one piece of work after another for it.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace plumb {

// There is none before the first piece. With it goes what was given and not begun.
struct Aside {
  std::mutex mutex{};
  std::condition_variable changed{};
  std::function<void()> next{};
  bool busy = false, over = false;
  std::exception_ptr failure{};
  std::thread thread{};
  Aside() = default;
  Aside(const Aside&) = delete;
  ~Aside();
};

// Waits until what was given before is done, and throws what it threw.
void finish_aside(Aside&);

// The same, and then it is begun, while this thread goes on.
void give(Aside&, std::function<void()>);

}  // namespace plumb
