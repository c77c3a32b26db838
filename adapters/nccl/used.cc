#include "adapters/nccl/used.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

namespace plumb::nccl {
namespace {

std::mutex lock;  // of these:
std::vector<Told> told;
std::deque<Circle> circles;
std::atomic<bool> listening{true}, begun{false};

void add(Told one) {
  const std::lock_guard guard(lock);
  told.push_back(std::move(one));
}

std::string text_of(const char* text) { return text ? text : "?"; }

std::int64_t width_of(const std::string& type) {
  if (type.ends_with("64")) return 8;
  if (type.ends_with("32")) return 4;
  return type.ends_with("16") ? 2 : 1;
}

// The kinds of events that are wanted, a bit each: collectives, and sends and receives.
constexpr int kCollective = 2, kBetweenTwo = 4;

// How an event begins, in versions 3 and 4 of NCCL's interface for profilers; of both kinds alike but for two
// words that version 3 has before the others.
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
struct BetweenTwo {
  const char* call;
  void* at;
  const char* type;
  std::size_t count;
  int peer;
};
struct Event {
  std::uint8_t kind;
  void* parent;
  int rank;
  union {
    Collective collective;
    BetweenTwo between_two;
  };
  Circle circle(const void* context) const {
    return context ? *static_cast<const Circle*>(context) : Circle{};
  }
};
struct EventOfThree {
  std::uint8_t kind;
  void* parent;
  int rank;
  const char* communicator;
  std::uint64_t hash;
  union {
    Collective collective;
    BetweenTwo between_two;
  };
  Circle circle(const void*) const { return {hash, 0, 0, rank}; }
};

template <class Given>
ncclResult_t start_event(void* context, void** handle, void* given) {
  *handle = nullptr;
  if (!listening) return ncclSuccess;
  const auto& event = *static_cast<const Given*>(given);
  Told one;
  one.circle = event.circle(context);
  std::size_t count = 0;
  if (event.kind == kCollective) {
    const auto& c = event.collective;
    one.call = text_of(c.call), one.type = text_of(c.type), one.peer = c.root, count = c.count;
    one.algorithm = text_of(c.algorithm), one.protocol = text_of(c.protocol), one.channels = c.channels;
  } else if (event.kind == kBetweenTwo) {
    const auto& c = event.between_two;
    one.call = text_of(c.call), one.type = text_of(c.type), one.peer = c.peer, count = c.count;
  } else {
    return ncclSuccess;
  }
  one.bytes = static_cast<std::int64_t>(count) * width_of(one.type);
  return add(std::move(one)), ncclSuccess;
}

ncclResult_t begin_of_three(void** context, int* wanted) {
  begun = true;
  return *context = nullptr, *wanted = kCollective | kBetweenTwo, ncclSuccess;
}
ncclResult_t begin(void** context, int* wanted, const char*, std::uint64_t number, int machines, int ranks,
                   int rank, void*) {
  begin_of_three(context, wanted);
  const std::lock_guard guard(lock);
  return *context = &circles.emplace_back(Circle{number, machines, ranks, rank}), ncclSuccess;
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

// NVLS_TREE is nvlstree.
std::string as_option(std::string name) {
  std::erase(name, '_');
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

bool is_asked_of(const std::string& algorithm, const std::string& call) {
  return algorithm == "pat" ? call == "AllGather" || call == "ReduceScatter"
                            : !algorithm.empty() && call == "AllReduce";
}

// Between machines each rank adds what its two children send. Within one there is a chain, whose ends meet
// them, so that on a level of such a tree a part is added twice more. How many ranks a machine has is not
// said: all but one on each other machine.
Added by_tree(const Circle& circle, std::int64_t n) {
  const std::int64_t machines = circle.machines;
  if (machines < 1 || circle.ranks != n) return {};
  const std::int64_t levels = std::bit_width(static_cast<std::uint64_t>(machines - 1)), chain = n - machines,
                     additions = chain + levels * (chain > 0 ? 4 : 2);
  return additions < n - 1 ? Added{additions, additions + 1} : one_by_one(n);
}

}  // namespace

void ask_what_is_used() { ::setenv("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN", 0); }

std::vector<Told> told_since_asked() {
  const std::lock_guard guard(lock);
  return std::exchange(told, {});
}

void listen(bool on) { listening = on; }
bool tells() { return begun; }

std::string in_words(const Told& t) {
  if (t.algorithm.empty()) return "";
  return fmt::format("used: {} {} {}, {} channels", t.call, t.algorithm, t.protocol, t.channels);
}

std::string in_words(const Asked& a) {
  std::vector<std::string> all;
  if (!a.algorithm.empty()) all.push_back("algorithm=" + a.algorithm);
  if (!a.protocol.empty()) all.push_back("protocol=" + a.protocol);
  if (a.channels > 0) all.push_back(fmt::format("channels={}", a.channels));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string not_as_asked(const Asked& a, const Told& t) {
  if (t.algorithm.empty()) return "";
  if (is_asked_of(a.algorithm, t.call) && as_option(t.algorithm) != a.algorithm)
    return fmt::format("algorithm={}: {} used {}", a.algorithm, t.call, t.algorithm);
  if (!a.protocol.empty() && as_option(t.protocol) != a.protocol)
    return fmt::format("protocol={}: {} used {}", a.protocol, t.call, t.protocol);
  if (a.channels > 0 && t.channels > a.channels)
    return fmt::format("channels={}: {} used {}", a.channels, t.call, t.channels);
  return "";
}

std::string fewer_channels(const Asked& a, const Told& t) {
  if (t.algorithm.empty() || t.channels >= a.channels) return "";
  return fmt::format("channels={}: {} used {}", a.channels, t.call, t.channels);
}

Added how_added(const Told& t, std::int64_t n) {
  constexpr std::array<std::string_view, 3> kInF32{"ncclFloat16", "ncclBfloat16", "ncclFloat32"};
  if (t.algorithm == "RING") return one_by_one(n);
  if (t.algorithm == "TREE") return by_tree(t.circle, n);
  if (t.algorithm == "NVLS" && t.circle.machines == 1 && std::ranges::count(kInF32, t.type) > 0)
    return kept_until_finished(n);
  return {};
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
