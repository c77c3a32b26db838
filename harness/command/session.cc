#include "harness/command/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "harness/backend/interrupt.h"
#include "harness/backend/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Clock = std::chrono::steady_clock;

// What the threads of a run share.
struct Shared {
  const Session& session;
  const std::vector<Job> jobs;
  const std::function<void(Judged&&)>& judged;
  Clock::time_point begin = Clock::now();
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex{};  // of what follows, and of calls to `judged`
  std::condition_variable ended{};
  int running = 0;
  std::exception_ptr failure{};
};

using Subjects = std::map<std::size_t, Subject>;  // of one thread, by backend

Subject& subject_for(Subjects& subjects, Shared& shared, std::size_t backend) {
  const Session& session = shared.session;
  const auto at = subjects.find(backend);
  if (at != subjects.end()) return at->second;
  Settings settings = session.settings;
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
    return {job, attempt(c, subject, limits_of(session, job)), false};
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

void work(Shared& shared) {
  Subjects subjects;
  while (!shared.stop && !over(shared)) {
    const std::size_t i = shared.next++;
    if (i >= shared.jobs.size()) return;
    if (interrupted()) throw Interrupted();
    Judged judged = judge_one(shared, shared.jobs[i], subjects);
    const std::scoped_lock lock(shared.mutex);
    if (!shared.stop) shared.judged(std::move(judged));
  }
}

void thread_main(Shared& shared) {
  std::exception_ptr failure;
  try {
    work(shared);
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
  const int threads = static_cast<int>(std::min<std::size_t>(session.threads, jobs.size()));
  shared.running = threads;
  std::vector<std::jthread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back([&shared] { thread_main(shared); });
  std::unique_lock lock(shared.mutex);
  while (shared.running > 0) {
    shared.ended.wait_for(lock, std::chrono::milliseconds(200));
    if (shared.running > 0) tick();
  }
  lock.unlock();
  pool.clear();
  if (shared.failure) std::rethrow_exception(shared.failure);
}

std::vector<std::string> resolved_names(const std::vector<std::string>& backends) {
  std::vector<std::string> names;
  for (const std::string& backend : backends) names.push_back(resolve(backend).name);
  return names;
}

}  // namespace plumb
