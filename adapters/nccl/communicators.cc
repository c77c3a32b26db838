#include "adapters/nccl/communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "adapters/protocol/clocked.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/serve.h"

namespace plumb::nccl {
namespace {

// The sizes and places of a mesh, by which all its ranks know it, and the ids of a team.
using Way = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;

// The communicators of meshes of one size, of which all their ranks know alike.
struct Communicators {
  ncclComm_t everyone = nullptr, beside = nullptr;
  std::map<Way, int> numbers;                // of teams
  std::vector<ncclComm_t> comms;             // by these numbers
  std::map<ncclComm_t, ncclComm_t> seconds;  // with Form::two
};

// When what waits is given up, in nanoseconds of the machine's clock; never: the largest.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
struct Deadline {
  std::atomic<std::int64_t> due{kNever};
  std::atomic<bool> taken{false};  // by who waits
  std::mutex lock;
  std::condition_variable sooner;
  std::int64_t waited_for = kNever;  // under the lock
  bool watched = false;
};
Deadline& deadline = *new Deadline;  // the watch waits on it while the process ends

struct Library {
  const Functions* f = nullptr;
  World world;
  CUstream streams[2] = {};
  ncclComm_t all = nullptr;                     // of all ranks
  std::map<std::int64_t, Communicators> sizes;  // of meshes
  Communicators* now = nullptr;                 // of the case's mesh
  std::vector<std::int64_t> shape;              // of it
  bool grouping = false;                        // calls are given to a group
  std::mutex lock;                              // of these:
  std::vector<ncclComm_t> live;                 // what can be aborted
  std::mutex aborting;  // held until all are: who comes second does not end the rank before
};
Library kept;

// What is kept when a case begins: meshes of so many sizes, with so many teams each. Each communicator takes
// memory of the card, and all ranks of one destroy it at the same case.
constexpr std::size_t kMostSizes = 3, kMostTeams = 12;

std::string in_words(ncclResult_t result, ncclComm_t comm) {
  const char *words = kept.f->GetErrorString(result), *last = kept.f->GetLastError(comm);
  const std::string text = words ? words : "an error";
  return last && *last ? text + ": " + last : text;
}

void may_be_aborted(ncclComm_t comm) {
  const std::lock_guard guard(kept.lock);
  if (comm && std::ranges::count(kept.live, comm) == 0) kept.live.push_back(comm);
}

[[noreturn]] void give_up(const char* call) {
  deadline.taken = true;
  abort_all();
  throw GivenUp(fmt::format("{} was not over by the deadline of this rank", call));
}

bool over() { return machine_time() >= deadline.due; }

// Others that give up a moment earlier are an error here.
[[noreturn]] void fail(ncclResult_t result, ncclComm_t comm, const char* call) {
  constexpr std::int64_t moment = 500'000'000;
  if (deadline.due != kNever && machine_time() >= deadline.due - moment) give_up(call);
  const std::string words = fmt::format("{}: {}", call, in_words(result, comm));
  abort_all();
  throw std::runtime_error(words);
}

// No call of the communicator is on its way into the library any more.
void settle(ncclComm_t comm, const char* call) {
  for (;; std::this_thread::yield()) {
    ncclResult_t state = ncclInProgress;
    if (const ncclResult_t asked = kept.f->CommGetAsyncError(comm, &state); asked != ncclSuccess)
      fail(asked, comm, call);
    if (state == ncclSuccess) return;
    if (state != ncclInProgress) fail(state, comm, call);
    if (over()) give_up(call);
  }
}

ncclConfig_t unblocked() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (kept.world.channels > 0) config.minCTAs = config.maxCTAs = kept.world.channels;
  return config;
}

std::string in_hex(const ncclUniqueId& id) {
  std::string text;
  for (char c : id.internal) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

ncclUniqueId from_hex(const std::string& text) {
  ncclUniqueId id{};
  for (std::size_t i = 0; i < sizeof id.internal && 2 * i + 1 < text.size(); ++i)
    id.internal[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

// The identifier goes through the launcher.
ncclComm_t communicator_of_all() {
  ncclUniqueId id{};
  if (kept.world.rank == 0) {
    check(kept.f->GetUniqueId(&id), nullptr, "ncclGetUniqueId");
    put_shared("nccl", in_hex(id));
  }
  id = from_hex(get_shared("nccl"));
  entering(fmt::format("making the communicator of {} ranks", kept.world.size));
  ncclConfig_t config = unblocked();
  auto* made = new ncclComm_t{};
  const ncclResult_t result = kept.f->CommInitRankConfig(made, kept.world.size, id, kept.world.rank, &config);
  may_be_aborted(*made);
  check(result, *made, "ncclCommInitRankConfig");
  may_be_aborted(*made);  // where it was written late
  leaving();
  return *std::unique_ptr<ncclComm_t>(made);
}

// All of `parent` split it together: those of one colour are together, in the order of their keys. A thread
// of the library writes the communicator when the parent says that it is over, even if an error was met
// before: not into the frame of this function.
ncclComm_t split(ncclComm_t parent, int colour, int key) {
  ncclConfig_t config = unblocked();
  auto* made = new ncclComm_t{};
  check(kept.f->CommSplit(parent, colour, key, made, &config), parent, "ncclCommSplit");
  const ncclComm_t comm = *std::unique_ptr<ncclComm_t>(made);
  may_be_aborted(comm);
  if (comm) settle(comm, "ncclCommSplit");
  return comm;
}

void destroy(ncclComm_t comm) {
  {
    const std::lock_guard guard(kept.lock);
    std::erase(kept.live, comm);
  }
  if (comm) static_cast<void>(kept.f->CommDestroy(comm));
}

// Alike for all meshes that differ in names alone.
std::vector<std::int64_t> shape_of(const Mesh& mesh) {
  std::vector<std::int64_t> shape;
  for (const Axis& axis : mesh.axes)
    if (axis.size > 1) shape.push_back(axis.size);
  shape.push_back(0);
  shape.insert(shape.end(), mesh.place.begin(), mesh.place.end());
  return shape;
}

void forget_teams(Communicators& all) {
  for (const auto& [comm, second] : all.seconds) destroy(second);
  for (ncclComm_t comm : all.comms) destroy(comm);
  all.seconds.clear(), all.comms.clear(), all.numbers.clear();
}

void forget_sizes() {
  for (auto& [n, all] : kept.sizes) forget_teams(all), destroy(all.beside), destroy(all.everyone);
  kept.sizes.clear();
}

}  // namespace

void start(const World& world) {
  std::string why;
  kept.f = functions(why), kept.world = world;
  for (CUstream& one : kept.streams)
    card::check(card::the_driver().StreamCreate(&one, CU_STREAM_DEFAULT), "cuStreamCreate");
}

const World& world() { return kept.world; }
const Functions& nccl() { return *kept.f; }

void begin_mesh(const Mesh& mesh) {
  const std::int64_t n = devices(mesh);
  if (!kept.all) kept.all = communicator_of_all();
  if (kept.sizes.size() >= kMostSizes && !kept.sizes.contains(n)) forget_sizes();
  const auto [at, made] = kept.sizes.try_emplace(n);
  kept.now = &at->second, kept.shape = shape_of(mesh);
  if (kept.world.anew || kept.now->comms.size() > kMostTeams) forget_teams(*kept.now);
  if (!made) return;
  entering(fmt::format("making the communicator of {} of {} ranks", n, kept.world.size));
  const int colour = kept.world.rank < n ? 0 : NCCL_SPLIT_NOCOLOR;
  kept.now->everyone = split(kept.all, colour, kept.world.rank);
  kept.now->beside = split(kept.all, colour, kept.world.rank);
  leaving();
}

ncclComm_t communicator_of_mesh() { return kept.now->everyone; }
ncclComm_t communicator_beside() { return kept.now->beside; }

void join(Team& team) {
  auto& [everyone, beside, numbers, comms, seconds] = *kept.now;
  const auto [at, made] = numbers.try_emplace(Way{kept.shape, team.ids}, static_cast<int>(comms.size()));
  team.number = at->second;
  if (!made) return;
  entering(fmt::format("making a communicator of {} ranks", team.ids.size()));
  const int first = static_cast<int>(*std::ranges::min_element(team.ids)), key = static_cast<int>(team.mine);
  comms.push_back(split(everyone, first, key));
  if (kept.world.form == Form::two) seconds[comms.back()] = split(everyone, first, key);
  leaving();
}

ncclComm_t communicator(const Team& team) {
  const Communicators& all = *kept.now;
  return all.comms[team.number < 0 ? all.numbers.at(Way{kept.shape, team.ids}) : team.number];
}
ncclComm_t second_of(ncclComm_t comm) { return kept.now->seconds.at(comm); }
CUstream stream() { return kept.streams[0]; }
CUstream second_stream() { return kept.streams[1]; }

void check(ncclResult_t result, ncclComm_t comm, const char* call) {
  if (result != ncclSuccess && result != ncclInProgress) fail(result, comm, call);
  if (comm && !kept.grouping) settle(comm, call);
}

void in_group(ncclComm_t comm, const std::function<void()>& all) {
  check(kept.f->GroupStart(), comm, "ncclGroupStart");
  kept.grouping = true;
  try {
    all();
  } catch (...) {
    kept.grouping = false;
    throw;
  }
  kept.grouping = false;
  check(kept.f->GroupEnd(), comm, "ncclGroupEnd");
}

// An error of the library is looked for once in a while: to ask for it takes longer than to ask the stream.
void finish(ncclComm_t comm, CUstream on, const char* call) {
  constexpr std::int64_t each = 1'000'000;  // ns
  const card::Driver& driver = card::the_driver();
  for (std::int64_t next = machine_time() + each;;) {
    const CUresult done = driver.StreamQuery(on);
    if (done == CUDA_SUCCESS) return;
    if (done != CUDA_ERROR_NOT_READY) {
      abort_all();
      card::check(done, call);
    }
    const std::int64_t now = machine_time();
    if (now >= next) settle(comm, call), next = now + each;
    if (now >= deadline.due) give_up(call);
    std::this_thread::yield();
  }
}

namespace {

// Who waits gives up by himself; where he is held in a call that does not return, what is under way is
// aborted.
void watch() {
  constexpr auto patience = std::chrono::milliseconds(200);
  std::unique_lock guard(deadline.lock);
  for (;;) {
    deadline.waited_for = deadline.due;
    const auto until = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline.waited_for));
    if (deadline.waited_for == kNever)
      deadline.sooner.wait(guard);
    else
      deadline.sooner.wait_until(guard, until);
    if (!over()) continue;
    deadline.sooner.wait_for(guard, patience);
    if (over() && !deadline.taken) abort_all();
    if (over()) deadline.sooner.wait(guard, [] { return !over(); });
  }
}

}  // namespace

void give_up_in(double seconds) {
  const std::int64_t due = seconds > 0 ? machine_time() + static_cast<std::int64_t>(seconds * 1e9) : kNever;
  const bool was_over = over();
  deadline.taken = false, deadline.due = due;
  const std::lock_guard guard(deadline.lock);
  if (!std::exchange(deadline.watched, true)) std::thread(watch).detach();
  if (due < deadline.waited_for || was_over) deadline.sooner.notify_one();
}

void abort_all() {
  const std::lock_guard one_at_a_time(kept.aborting);
  std::vector<ncclComm_t> all;
  {
    const std::lock_guard guard(kept.lock);
    all.swap(kept.live);
  }
  for (ncclComm_t comm : all) static_cast<void>(kept.f->CommAbort(comm));
}

}  // namespace plumb::nccl
