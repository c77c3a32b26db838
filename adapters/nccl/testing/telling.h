// How the stub of NCCL tells a profiler in the program itself what it is called for, by version 4 of the
// library's interface.
#pragma once

#include <dlfcn.h>

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
struct Told {
  unsigned char kind;
  void* parent;
  int rank;
  union {
    ToldOfAll all;
    ToldOfTwo two;
  };
};
struct Profiler {
  const char* name;
  ncclResult_t (*begin)(void**, int*, const char*, std::uint64_t, int, int, int, void*);
  ncclResult_t (*start)(void*, void**, void*);
};

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

inline const Profiler* profiler() {
  static const auto* found = variable("NCCL_PROFILER_PLUGIN") == "STATIC_PLUGIN"
                                 ? static_cast<const Profiler*>(::dlsym(RTLD_DEFAULT, "ncclProfiler_v4"))
                                 : nullptr;
  return found;
}

// As soon as a communicator is made.
inline void begin_to_tell(ncclComm& c) {
  int wanted = 0;
  if (profiler())
    profiler()->begin(&c.profiled, &wanted, "", std::hash<std::string>{}(c.file),
                      std::min(c.size, number_of("STUB_MACHINES", 1)), c.size, c.rank, nullptr);
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
inline void tell(const ncclComm& c, const Given& o) {
  if (!c.watched) return;
  static const std::string uses = variable("STUB_USES").empty() ? "RING" : variable("STUB_USES");
  Told told{};
  told.kind = o.of_two ? between_two : collective;
  if (told.kind == collective)
    told.all = {0, o.call, o.in, o.out, o.count, o.peer, name_of(o.type), 2, 1, uses.c_str(), "SIMPLE"};
  else
    told.two = {o.call, o.in, name_of(o.type), o.count, o.peer, 2};
  void* event = nullptr;
  profiler()->start(c.profiled, &event, &told);
}

}  // namespace stub
