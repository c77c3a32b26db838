#include "adapters/nccl/used.h"

#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace plumb::nccl {
namespace {

std::mutex used_lock;
std::vector<std::string> used;

void add_used(const char* call, const char* algorithm, const char* protocol, int of_channels) {
  const std::string words = fmt::format("used: {} {} {}, {} channels", call ? call : "?",
                                        algorithm ? algorithm : "?", protocol ? protocol : "?", of_channels);
  const std::lock_guard guard(used_lock);
  if (std::ranges::count(used, words) == 0) used.push_back(words);
}

// The kinds of events that are wanted, a bit each: collectives alone.
constexpr int kCollective = 2;

// How an event begins, in versions 3 and 4 of NCCL's interface for profilers; of a collective alike but for
// two words that version 3 has before the others.
struct Collective {
  std::uint64_t number;
  const char* call;
  const void* in;
  void* out;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};
struct Event {
  std::uint8_t kind;
  void* parent;
  int rank;
  Collective collective;
};
struct EventOfThree {
  std::uint8_t kind;
  void* parent;
  int rank;
  const char* communicator;
  std::uint64_t hash;
  Collective collective;
};

template <class Given>
ncclResult_t start_event(void*, void** handle, void* given) {
  const auto& event = *static_cast<const Given*>(given);
  if (event.kind == kCollective)
    add_used(event.collective.call, event.collective.algorithm, event.collective.protocol,
             event.collective.channels);
  return *handle = nullptr, ncclSuccess;
}

ncclResult_t begin_of_three(void** context, int* wanted) {
  return *context = nullptr, *wanted = kCollective, ncclSuccess;
}
ncclResult_t begin(void** context, int* wanted, const char*, std::uint64_t, int, int, int, void*) {
  return begin_of_three(context, wanted);
}
ncclResult_t stop_event(void*) { return ncclSuccess; }
ncclResult_t change_event(void*, int, void*) { return ncclSuccess; }
ncclResult_t end(void*) { return ncclSuccess; }

template <class Begin>
struct Profiler {
  const char* name;
  Begin begin;
  ncclResult_t (*start)(void*, void**, void*);
  ncclResult_t (*stop)(void*);
  ncclResult_t (*change)(void*, int, void*);
  ncclResult_t (*end)(void*);
};

}  // namespace

void ask_what_is_used() { ::setenv("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN", 0); }

std::vector<std::string> used_since_asked() {
  const std::lock_guard guard(used_lock);
  return std::exchange(used, {});
}

}  // namespace plumb::nccl

// Found by the library in the program itself (profiler.list).
extern "C" {
extern const plumb::nccl::Profiler<decltype(&plumb::nccl::begin)> ncclProfiler_v4;
const plumb::nccl::Profiler<decltype(&plumb::nccl::begin)> ncclProfiler_v4{
    "plumb",
    plumb::nccl::begin,
    plumb::nccl::start_event<plumb::nccl::Event>,
    plumb::nccl::stop_event,
    plumb::nccl::change_event,
    plumb::nccl::end};
extern const plumb::nccl::Profiler<decltype(&plumb::nccl::begin_of_three)> ncclProfiler_v3;
const plumb::nccl::Profiler<decltype(&plumb::nccl::begin_of_three)> ncclProfiler_v3{
    "plumb",
    plumb::nccl::begin_of_three,
    plumb::nccl::start_event<plumb::nccl::EventOfThree>,
    plumb::nccl::stop_event,
    plumb::nccl::change_event,
    plumb::nccl::end};
}
