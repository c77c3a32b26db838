#include "reference/hlo/run/threads.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace plumb::hlo {
namespace {

// Work in parts, taken one after the other.
struct Work {
  const std::function<void(std::int64_t)>& part;
  std::int64_t parts, taken = 0, done = 0;
  std::int64_t first = parts;  // of those that threw, and what
  std::exception_ptr failure{};
};

// As many threads as there are cores, but one: that of who has work. It does what no other has begun, so it
// waits for nobody who is not at work.
struct Crew {
  std::mutex access;
  std::condition_variable_any wanted, ended;
  std::deque<Work*> open;             // with parts that nobody has taken
  std::vector<std::jthread> threads;  // last: they end first

  Crew() {
    for (std::int64_t n = 1; n < hlo::threads(); ++n)
      threads.emplace_back([this](const std::stop_token& stop) {
        std::unique_lock lock(access);
        while (wanted.wait(lock, stop, [this] { return !open.empty(); })) do_one(*open.front(), lock);
      });
  }

  void do_one(Work& work, std::unique_lock<std::mutex>& lock) {
    const std::int64_t n = work.taken++;
    if (work.taken == work.parts) std::erase(open, &work);
    std::exception_ptr failure;
    lock.unlock();
    try {
      work.part(n);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && n < work.first) work.first = n, work.failure = failure;
    if (++work.done == work.parts) ended.notify_all();
  }
};

}  // namespace

std::int64_t threads() {
  static const std::int64_t all = std::max(1u, std::thread::hardware_concurrency());
  return all;
}

void at_once(std::int64_t parts, const std::function<void(std::int64_t)>& part) {
  if (parts <= 0) return;
  static Crew crew;
  Work work{part, parts};
  std::unique_lock lock(crew.access);
  crew.open.push_back(&work);
  crew.wanted.notify_all();
  while (work.taken < work.parts) crew.do_one(work, lock);
  crew.ended.wait(lock, [&] { return work.done == work.parts; });
  if (work.failure) std::rethrow_exception(work.failure);
}

}  // namespace plumb::hlo
