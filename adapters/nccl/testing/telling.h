// How the stub of NCCL tells a profiler in the program itself what it is called for: as 2.27 does, by version 4
// of the library's interface, as 2.26, by version 3, or not at all, as those before.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>

#include "adapters/nccl/testing/exchange.h"

namespace stub {

inline std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

struct ToldOfAll {
  std::uint64_t number;
  const char* call;
  const void *in, *out;
  std::size_t count;
  int root;
  const char* type;
  unsigned char channels, warps;
  const char *algorithm, *protocol;
};
struct ToldOfTwo {
  const char* call;
  const void* at;
  const char* type;
  std::size_t count;
  int peer;
  unsigned char channels;
};
struct ByFour {};
struct ByThree {
  const char* communicator;
  std::uint64_t number;
};
template <class Before>
struct Told {
  unsigned char kind;
  void* parent;
  int rank;
  [[no_unique_address]] Before before;
  union {
    ToldOfAll all;
    ToldOfTwo two;
  };
};
template <class... Given>
struct Profiler {
  const char* name;
  ncclResult_t (*begin)(void**, int*, Given...);
  ncclResult_t (*start)(void*, void**, void*);
};
using ProfilerOfFour = Profiler<const char*, std::uint64_t, int, int, int, void*>;
using ProfilerOfThree = Profiler<>;

inline const char* name_of(ncclDataType_t type) {
  constexpr const char* names[] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                   "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                   "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
  return names[type];
}

inline int number_of(const char* variable_name, int otherwise) {
  const std::string text = variable(variable_name);
  return text.empty() ? otherwise : std::stoi(text);
}

constexpr unsigned char collective = 2, between_two = 4;

// Null where the library of that version has no other interface than this one's older ones.
template <class P>
const P* profiler(const char* name, int first, int last) {
  const int version = number_of("STUB_VERSION", NCCL_VERSION_CODE);
  const bool has = version >= first && version < last && variable("NCCL_PROFILER_PLUGIN") == "STATIC_PLUGIN";
  return has ? static_cast<const P*>(::dlsym(RTLD_DEFAULT, name)) : nullptr;
}
inline const ProfilerOfFour* by_four() {
  static const auto* found = profiler<ProfilerOfFour>("ncclProfiler_v4", 22700, 1000000);
  return found;
}
inline const ProfilerOfThree* by_three() {
  static const auto* found = profiler<ProfilerOfThree>("ncclProfiler_v3", 22600, 22700);
  return found;
}

inline std::uint64_t number_of(const ncclComm& c) { return std::hash<std::string>{}(c.file); }

// As soon as a communicator is made.
inline void begin_to_tell(ncclComm& c) {
  int wanted = 0;
  if (by_four())
    by_four()->begin(&c.profiled, &wanted, "", number_of(c), std::min(c.size, number_of("STUB_MACHINES", 1)),
                     c.size, c.rank, nullptr);
  if (by_three()) by_three()->begin(&c.profiled, &wanted);
  c.watched = wanted == (collective | between_two);
}

// A call as it was given; of a send, a receive, or one of all.
struct Given {
  const char* call;
  bool of_two;
  const void *in, *out;
  std::size_t count;
  ncclDataType_t type;
  int peer;
};
// The algorithm that a call of that name is asked to use: NCCL_ALGO=allgather:pat;reducescatter:pat.
inline std::string algorithm_of(const std::string& call) {
  std::string asked = variable("NCCL_ALGO"), name = call + ":";
  std::ranges::transform(asked, asked.begin(), ::toupper), std::ranges::transform(name, name.begin(), ::toupper);
  const std::size_t at = asked.find(name);
  if (at == std::string::npos) return "RING";
  asked = asked.substr(at + name.size());
  asked = asked.substr(0, asked.find(';'));
  return asked == "NVLSTREE"        ? "NVLS_TREE"
         : asked == "COLLNETDIRECT" ? "COLLNET_DIRECT"
         : asked == "COLLNETCHAIN"  ? "COLLNET_CHAIN"
                                    : asked;
}
inline std::string either(const std::string& one, const std::string& other) { return one.empty() ? other : one; }

template <class Before>
void tell_by(ncclResult_t (*start)(void*, void**, void*), const ncclComm& c, const Given& o, Before before) {
  const std::string uses = either(variable("STUB_USES"), algorithm_of(o.call));
  std::string protocol = either(variable("STUB_PROTOCOL"), either(variable("NCCL_PROTO"), "SIMPLE"));
  std::ranges::transform(protocol, protocol.begin(), ::toupper);
  const auto channels = static_cast<unsigned char>(number_of("STUB_CHANNELS", c.channels));
  Told<Before> told{};
  told.kind = o.of_two ? between_two : collective, told.rank = c.rank, told.before = before;
  if (told.kind == collective)
    told.all = {0,        o.call, o.in,         o.out,           o.count, o.peer, name_of(o.type),
                channels, 1,      uses.c_str(), protocol.c_str()};
  else
    told.two = {o.call, o.in, name_of(o.type), o.count, o.peer, channels};
  void* event = nullptr;
  start(c.profiled, &event, &told);
}
inline void tell(const ncclComm& c, const Given& o) {
  if (!c.watched) return;
  if (by_four()) return tell_by(by_four()->start, c, o, ByFour{});
  tell_by(by_three()->start, c, o, ByThree{"", number_of(c)});
}

}  // namespace stub
