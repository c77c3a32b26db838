#include "adapters/protocol/ranks.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "adapters/protocol/clocked.h"
#include "adapters/protocol/direct.h"
#include "adapters/protocol/plumb_ranks.h"

namespace plumb {
namespace {

auto at_the_end = std::function<void()>{};  // under the lock of plumb_ranks

// Those who started this process, up to the launcher where it is on this machine. That they may have ended by
// the time that somebody asks is why they are looked for at once.
std::vector<pid_t> ancestors() {
  std::vector<pid_t> all;
  for (pid_t pid = ::getpid(); pid > 1;) {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(stat, text);
    const std::size_t name = text.find('('), end = text.rfind(')');
    if (end == text.npos || (!all.empty() && text.substr(name, end - name) == "(plumb-launch")) return all;
    int parent = 0;
    if (std::sscanf(text.c_str() + end, ") %*c %d", &parent) != 1) return all;
    all.push_back(pid = parent);
  }
  return all;
}

// Whoever starts ranks ends all of them when one dies: those whom it tells to end say so, and are not taken
// for that one; whom another tells is. Threads that start later leave the signal to this one, too.
void say_when_told_to_end() {
  sigset_t told;
  sigemptyset(&told), sigaddset(&told, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &told, nullptr);
  std::thread([told, starters = ancestors()] {
    siginfo_t how = {};
    while (sigwaitinfo(&told, &how) < 0) {
    }
    // Of another namespace of processes the number is not known.
    const bool by_starter = how.si_pid == 0 || std::ranges::count(starters, how.si_pid) > 0;
    plumb_say(by_starter ? R"({"type":"told to end"})" : R"({"type":"struck"})");
    plumb_ranks_end();
    pthread_mutex_lock(&plumb_ranks.lock);
    const std::function<void()> first = at_the_end;
    pthread_mutex_unlock(&plumb_ranks.lock);
    if (first) first();
    ::signal(SIGTERM, SIG_DFL);
    ::raise(SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &told, nullptr);
  }).detach();
}

// Of the only rank of a launch: whether it reads by itself, once it was told to.
std::optional<Direct> direct;
bool reads_itself = false;

}  // namespace

int own_rank() { return plumb_ranks_rank(); }

int cannot_use(const std::string& why) {
  if (own_rank() == 0)
    std::fprintf(stderr, "%s\n", why.c_str());
  else
    std::this_thread::sleep_for(std::chrono::seconds(10));
  return 2;
}

std::optional<Seat> take_seat() {
  const char* where = std::getenv("PLUMB_LAUNCH");
  if (!where) return std::nullopt;
  const Seat seat{plumb_ranks_rank(), plumb_ranks_world()};
  if (plumb_ranks_join(seat.rank, seat.world, "") != 0)
    throw std::runtime_error(std::string("plumb-launch cannot be reached at ") + where);
  say_when_told_to_end();
  if (seat.world == 1 && (direct = direct_channel())) plumb_say(can_read);
  return seat;
}

void when_told_to_end(std::function<void()> act) {
  pthread_mutex_lock(&plumb_ranks.lock);
  at_the_end = std::move(act);
  pthread_mutex_unlock(&plumb_ranks.lock);
}

void say_world(int size) { plumb_ranks_world_is(size); }

namespace {

// Where the rank is among what was known beforehand.
struct Place {
  // In one number, so that under a clock nothing but a store is made of it: how often something was entered,
  // which of the words, and whether it was left. 0: elsewhere.
  std::atomic<std::uint64_t> now{0};
  std::uint64_t entered = 0;
  std::vector<std::string> known;      // in words, under the lock of plumb_ranks
  std::vector<Turn>* turns = nullptr;  // where somebody wants to know when
};
Place own_place;
constexpr std::uint64_t one_more = 1 << 16, inside = 1;

void say_place() {
  const std::uint64_t now = own_place.now.load(std::memory_order_relaxed), which = now % one_more / 2;
  if (now == 0 || which >= own_place.known.size()) return;
  plumb_say_at(fmt::format(fmt::runtime(own_place.known[which]), now / one_more).c_str());
  plumb_ranks.inside = (now & inside) != 0, plumb_ranks.entered = static_cast<long>(now / one_more);
}

// What was entered last is not among them.
void be_elsewhere() { own_place.now.store(0, std::memory_order_relaxed); }

}  // namespace

void entering(const std::string& what) {
  be_elsewhere();
  plumb_ranks_enter(what.c_str());
}

std::string waits_in() {
  pthread_mutex_lock(&plumb_ranks.lock);
  say_place();
  const std::string at = plumb_ranks.inside ? plumb_ranks.at : "";
  pthread_mutex_unlock(&plumb_ranks.lock);
  return at;
}

int known(const std::string& what) {
  pthread_mutex_lock(&plumb_ranks.lock);
  plumb_ranks.look = say_place;
  const auto at = std::ranges::find(own_place.known, what) - own_place.known.begin();
  if (at == std::ssize(own_place.known)) own_place.known.push_back(what);
  pthread_mutex_unlock(&plumb_ranks.lock);
  return static_cast<int>(at);
}

void forget_known() {
  be_elsewhere();
  own_place.entered = 0;
  pthread_mutex_lock(&plumb_ranks.lock);
  own_place.known.clear();
  pthread_mutex_unlock(&plumb_ranks.lock);
}

void entering(int known) {
  own_place.now.store(++own_place.entered * one_more | static_cast<std::uint64_t>(known) * 2 | inside,
                      std::memory_order_relaxed);
  if (own_place.turns) own_place.turns->push_back({machine_time(), 0});
}

void leaving() {
  if (own_place.turns && !own_place.turns->empty()) own_place.turns->back().leave = machine_time();
  const std::uint64_t now = own_place.now.load(std::memory_order_relaxed);
  if (now == 0) return plumb_ranks_leave();
  own_place.now.store(now & ~inside, std::memory_order_relaxed);
}

std::vector<Turn> turns_in(const std::function<void()>& run) {
  std::vector<Turn> all;
  own_place.turns = &all;
  run();
  own_place.turns = nullptr;
  return all;
}

std::optional<std::string> next_request() {
  waits_in();  // what was left last is known while it waits for a request
  be_elsewhere();
  if (reads_itself) {
    Heard heard = read_line(*direct);
    reads_itself = !heard.taken_back;
    if (reads_itself) return std::move(heard.line);
  }
  char* line = plumb_ranks_request();
  if (!line) return std::nullopt;
  std::string text = line;
  std::free(line);
  reads_itself = direct && text == read_on;
  return reads_itself ? next_request() : text;
}

void send_reply(std::string line) {
  if (reads_itself) return write_line(*direct, line);
  plumb_ranks_reply(line.c_str());
}

std::span<std::byte> copied_arena() {
  return {reinterpret_cast<std::byte*>(plumb_ranks_arena()), plumb_ranks_arena() ? plumb_ranks.size : 0};
}

void send_written(std::size_t offset, std::size_t bytes) { plumb_ranks_wrote(offset, bytes); }

void put_shared(const std::string& key, const std::string& value) {
  if (plumb_ranks_put(key.c_str(), value.c_str()) != 0) throw std::runtime_error("cannot put " + key);
}

std::string get_shared(const std::string& key) {
  char* value = plumb_ranks_get(key.c_str());
  if (!value) throw std::runtime_error("cannot get " + key);
  std::string text = value;
  std::free(value);
  return text;
}

void meet_all() {
  if (plumb_ranks_fence() != 0) throw std::runtime_error("the launcher is gone");
}

std::string this_machine() {
  std::array<char, 140> text{};
  plumb_ranks_machine(text.data(), text.size());
  return text.data();
}

}  // namespace plumb
