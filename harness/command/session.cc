#include "harness/command/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "harness/backend/interrupt.h"
#include "harness/backend/lookup.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds tick_of_waiting{200};

// The jobs of one backend that are left, by their numbers. Until its hello is heard one thread asks it; then
// that thread alone, where the hello says so, or every thread.
struct Queue {
  std::deque<std::size_t> jobs;
  std::optional<int> asker;
  bool heard = false;
};

// What the threads of a run share.
struct Shared {
  const Session& session;
  const std::vector<Job> jobs;
  const std::function<void(Judged&&)>& judged;
  std::vector<Queue> queues{};  // of the backends
  Clock::time_point begin = Clock::now();
  std::atomic<bool> stop{false};
  std::mutex mutex{};                // of `queues`, of what follows, and of calls to `judged`
  std::condition_variable ended{};   // a thread
  std::condition_variable opened{};  // a queue, to more threads than one
  int running = 0;
  std::exception_ptr failure{};
};

using Subjects = std::map<std::size_t, Subject>;  // of one thread, by backend

void hear(Shared& shared, Queue& queue, const Hello& hello) {
  const std::scoped_lock lock(shared.mutex);
  if (!queue.heard && !hello.alone) queue.asker.reset();
  queue.heard = true;
  shared.opened.notify_all();
}

Subject& subject_for(Subjects& subjects, Shared& shared, std::size_t backend) {
  const Session& session = shared.session;
  const auto at = subjects.find(backend);
  if (at != subjects.end()) return at->second;
  Settings settings = session.settings;
  settings.greeted = [&shared, backend](const Hello& hello) { hear(shared, shared.queues[backend], hello); };
  if (session.waits)
    settings.waits = [&shared](const Wait& wait) {
      const std::scoped_lock lock(shared.mutex);
      if (!shared.stop) shared.session.waits(wait);
    };
  return subjects.emplace(backend, Subject(session.backends[backend], settings)).first->second;
}

Judged judge_one(Shared& shared, const Job& job, Subjects& subjects) {
  const Session& session = shared.session;
  const Case c = nth(session.cases, job.number);
  Subject& subject = subject_for(subjects, shared, job.backend);
  try {
    return {job, attempt(c, subject, limits_of(session, job)), false, subject.asked};
  } catch (const DoesNotFit& error) {
    Judged judged{job, {}, true};
    judged.record.line = print(c);
    judged.record.backend = subject.name;
    judged.record.verdict.facts.push_back(fact(Status::unrun, error.what()));
    return judged;
  }
}

std::vector<Job> by_devices(const Cases& cases, std::vector<Job> jobs) {
  std::ranges::stable_sort(jobs, {}, [&](const Job& job) { return devices(mesh_of(cases, job.number)); });
  return jobs;
}

bool over(const Shared& shared) {
  const double limit = shared.session.budget;
  return limit > 0 && std::chrono::duration<double>(Clock::now() - shared.begin).count() > limit;
}

// The first job that this thread may take; none where there will be none.
std::optional<Job> take(Shared& shared, int thread) {
  std::unique_lock lock(shared.mutex);
  while (!shared.stop && !over(shared)) {
    Queue* first = nullptr;
    bool unheard = false;  // somebody asks a backend that may be everybody's
    for (Queue& queue : shared.queues) {
      if (queue.jobs.empty()) continue;
      const bool free = queue.asker.value_or(thread) == thread;
      unheard |= !free && !queue.heard;
      if (free && (!first || queue.jobs.front() < first->jobs.front())) first = &queue;
    }
    if (!first && !unheard) return std::nullopt;
    if (interrupted()) throw Interrupted();
    if (first) {
      if (!first->heard) first->asker = thread;
      const Job job = shared.jobs[first->jobs.front()];
      first->jobs.pop_front();
      return job;
    }
    shared.opened.wait_for(lock, tick_of_waiting);
  }
  return std::nullopt;
}

void work(Shared& shared, int thread) {
  Subjects subjects;
  while (const auto job = take(shared, thread)) {
    Judged judged = judge_one(shared, *job, subjects);
    const std::scoped_lock lock(shared.mutex);
    if (Queue& queue = shared.queues[job->backend]; !queue.heard) {
      queue.asker.reset();  // it did not start: whoever is next tries
      shared.opened.notify_all();
    }
    if (!shared.stop) shared.judged(std::move(judged));
  }
}

void thread_main(Shared& shared, int thread) {
  std::exception_ptr failure;
  try {
    work(shared, thread);
  } catch (...) {
    failure = std::current_exception();
    shared.stop = true;
  }
  const std::scoped_lock lock(shared.mutex);
  if (failure && !shared.failure) shared.failure = failure;
  --shared.running;
  shared.ended.notify_all();
}

}  // namespace

Limits limits_of(const Session& session, const Job& job) {
  const Row& row = row_of(session.cases, job.number);
  const auto limit = [](double user, double own) { return user >= 0 ? user : own; };
  Limits limits = session.limits;
  limits.max_waste = limit(limits.max_waste, row.max_waste);
  limits.max_collectives = limit(limits.max_collectives, row.max_collectives);
  return limits;
}

void run(const Session& session, const std::vector<Job>& jobs, const std::function<void(Judged&&)>& judged,
         const std::function<void()>& tick) {
  Shared shared{session, by_devices(session.cases, jobs), judged};
  shared.queues.resize(session.backends.size());
  for (std::size_t i = 0; i < shared.jobs.size(); ++i)
    shared.queues[shared.jobs[i].backend].jobs.push_back(i);
  const int threads = static_cast<int>(std::min<std::size_t>(session.threads, jobs.size()));
  shared.running = threads;
  std::vector<std::jthread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back([&shared, i] { thread_main(shared, i); });
  std::unique_lock lock(shared.mutex);
  while (shared.running > 0) {
    shared.ended.wait_for(lock, tick_of_waiting);
    if (shared.running > 0) tick();
  }
  lock.unlock();
  pool.clear();
  if (shared.failure) std::rethrow_exception(shared.failure);
}

std::vector<std::string> resolved_names(const std::vector<std::string>& backends) {
  std::vector<std::string> names;
  for (const std::string& backend : backends) names.push_back(find_backend(backend).name);
  return names;
}

std::vector<std::string> files_now(const std::vector<std::string>& backends) {
  std::vector<std::string> all;
  for (const std::string& backend : backends) all.push_back(files_hash(find_backend(backend)));
  return all;
}

}  // namespace plumb
