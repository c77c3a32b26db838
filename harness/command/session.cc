#include "harness/command/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/backend/interrupt.h"
#include "harness/backend/lookup.h"
#include "harness/command/aside.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds tick_of_waiting{200};

// Starts of a backend for a number of devices that came to no hello, in a row. The first is a finding;
// whether the next ones are depends on the third.
struct Vain {
  int starts = 0;
  std::vector<Judged> held{};
};
constexpr int most_vain = 3;

// What the threads of a run share.
struct Shared {
  const Session& session;
  const std::function<void(Judged&&)>& judged;
  Turns turns;
  std::map<std::pair<std::size_t, std::int64_t>, Vain> vain{};  // by backend and devices
  Clock::time_point begin = Clock::now();
  std::atomic<bool> stop{false};
  std::mutex mutex{};                // of `turns` and `vain`, of what follows, and of calls to `judged`
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
  settings.greeted = [&shared, backend](const Hello& hello) {
    hear(shared, shared.turns.queues[backend], hello);
  };
  if (session.parted)
    settings.parted = [&shared](const std::string& name, const std::string& what) {
      const std::scoped_lock lock(shared.mutex);
      shared.session.parted(name, what);
    };
  if (session.waits)
    settings.waits = [&shared](const Wait& wait) {
      const std::scoped_lock lock(shared.mutex);
      if (!shared.stop) shared.session.waits(wait);
    };
  return subjects.emplace(backend, Subject(session.backends[backend], settings)).first->second;
}

Judged left_unrun(const Subject& subject, const Case& c, const Job& job, const DoesNotFit& error) {
  Judged judged{job, {}, true};
  judged.record.line = print(c);
  judged.record.backend = subject.name;
  judged.record.verdict.facts.push_back(fact(Status::unrun, error.what()));
  return judged;
}

double seconds_of(const Shared& shared) {
  return std::chrono::duration<double>(Clock::now() - shared.begin).count();
}

bool over(const Shared& shared) {
  return shared.session.budget > 0 && seconds_of(shared) > shared.session.budget;
}

// The first job that this thread may take; none where there will be none.
std::optional<Job> take(Shared& shared, int thread) {
  std::unique_lock lock(shared.mutex);
  while (!shared.stop && !over(shared)) {
    if (shared.session.budget > 0) pass_on(shared.turns, seconds_of(shared), shared.session.budget);
    Queue* first = nullptr;
    bool unheard = false;  // somebody asks a backend that may be everybody's
    for (Queue& queue : shared.turns.queues) {
      if (queue.places.empty()) continue;
      const bool free = queue.asker.value_or(thread) == thread;
      unheard |= !free && !queue.heard;
      if (free && (!first || queue.places.front() < first->places.front())) first = &queue;
    }
    if (!first && !unheard) return std::nullopt;
    if (interrupted()) throw Interrupted();
    if (first) {
      if (!first->heard) first->asker = thread;
      const Job job = job_at(shared.turns, first->places.front());
      first->places.pop_front();
      return job;
    }
    shared.opened.wait_for(lock, tick_of_waiting);
  }
  return std::nullopt;
}

// What else was tried in vain is not told, and the rest is not tried.
void give_up(Shared& shared, const Job& job, Vain& vain) {
  const std::int64_t n = devices(mesh_of(shared.session.cases, job.number));
  give_up(shared.turns, job.backend, n);
  vain.held.clear();
  if (vain.starts == most_vain)
    shared.session.gave_up({job.backend, n});  // not when another thread was at it
}

// A backend that does not start is one finding, not one for each case.
void tell(Shared& shared, Judged&& judged, bool in_vain) {
  const Job job = judged.job;
  Vain& vain = shared.vain[{job.backend, devices(mesh_of(shared.session.cases, job.number))}];
  if (in_vain && shared.session.gave_up && ++vain.starts > 1) {
    if (vain.starts < most_vain)
      vain.held.push_back(std::move(judged));
    else
      give_up(shared, job, vain);
    return;
  }
  if (!in_vain) vain.starts = 0;
  for (Judged& one : std::exchange(vain.held, {})) shared.judged(std::move(one));
  shared.judged(std::move(judged));
}

// Whether the program has just failed to start, or was given up before.
bool vainly(const Judged& judged, const Shared& shared, Subjects& subjects) {
  const auto at = subjects.find(judged.job.backend);
  if (at == subjects.end() || judged.refused) return false;
  const Mesh& mesh = mesh_of(shared.session.cases, judged.job.number);
  return process_of(at->second).starts_in_vain(devices(mesh)) > 0 && finding(judged.record.verdict.status);
}

void tell_one(Shared& shared, Judged&& judged, bool in_vain) {
  const std::scoped_lock lock(shared.mutex);
  if (Queue& queue = shared.turns.queues[judged.job.backend]; !queue.heard) {
    queue.asker.reset();  // it did not start: whoever is next tries
    shared.opened.notify_all();
  }
  if (!shared.stop) tell(shared, std::move(judged), in_vain);
}

// However many cases may run at a time: of this one they come one after another.
bool is_alone(Subject& subject) {
  const Hello* hello = process_of(subject).hello();
  return hello && hello->alone;
}

// What a thread has asked and what is judged beside it are told in the order in which they were asked.
void judge_one(Shared& shared, const Job& job, Subjects& subjects, Aside& aside) {
  const Session& session = shared.session;
  const Case c = nth(session.cases, job.number);
  Subject& subject = subject_for(subjects, shared, job.backend);
  Judged judged{job, {}, false, subject.asked};
  try {
    Answered said = answered(c, subject, limits_of(session, job));
    if (said.apart && is_alone(subject))
      return give(aside, [&shared, said = std::move(said), judged = std::move(judged)]() mutable {
        judged.record = judged_apart(said);
        tell_one(shared, std::move(judged), false);
      });
    judged.record = judged_whole(c, said, subject);
  } catch (const DoesNotFit& error) {
    judged = left_unrun(subject, c, job, error);
  }
  finish_aside(aside);
  const bool in_vain = vainly(judged, shared, subjects);
  tell_one(shared, std::move(judged), in_vain);
}

void work(Shared& shared, int thread) {
  Subjects subjects;
  Aside aside;
  while (const auto job = take(shared, thread)) judge_one(shared, *job, subjects, aside);
  finish_aside(aside);
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
  Shared shared{session, judged, turns_of(session.cases, jobs, session.backends.size(), session.budget > 0)};
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
  for (auto& [of, vain] : shared.vain)
    for (Judged& one : vain.held) judged(std::move(one));
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
