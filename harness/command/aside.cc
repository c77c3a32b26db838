#include "harness/command/aside.h"

#include <utility>

namespace plumb {
namespace {

void work_aside(Aside& aside) {
  std::unique_lock lock(aside.mutex);
  while (true) {
    aside.changed.wait(lock, [&] { return aside.over || aside.next; });
    if (aside.over) return;
    auto piece = std::exchange(aside.next, nullptr);
    lock.unlock();
    try {
      piece();
    } catch (...) {
      aside.failure = std::current_exception();
    }
    piece = nullptr;
    lock.lock();
    aside.busy = false;
    aside.changed.notify_all();
  }
}

void wait_for(Aside& aside, std::unique_lock<std::mutex>& lock) {
  aside.changed.wait(lock, [&] { return !aside.busy; });
  if (aside.failure) std::rethrow_exception(std::exchange(aside.failure, nullptr));
}

}  // namespace

Aside::~Aside() {
  {
    const std::scoped_lock lock(mutex);
    over = true;
    changed.notify_all();
  }
  if (thread.joinable()) thread.join();
}

void finish_aside(Aside& aside) {
  std::unique_lock lock(aside.mutex);
  wait_for(aside, lock);
}

void give(Aside& aside, std::function<void()> piece) {
  std::unique_lock lock(aside.mutex);
  wait_for(aside, lock);
  aside.next = std::move(piece), aside.busy = true;
  if (!aside.thread.joinable()) aside.thread = std::thread([&aside] { work_aside(aside); });
  aside.changed.notify_all();
}

}  // namespace plumb
