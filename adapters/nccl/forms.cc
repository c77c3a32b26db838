#include "adapters/nccl/forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "adapters/card/memory.h"
#include "adapters/rank/blocks.h"

namespace plumb::nccl {
namespace {

// Calls that are alike but for what lies in memory.
using Key = std::tuple<ncclComm_t, std::string, ncclDataType_t, ncclRedOp_t, const std::byte*, std::byte*,
                       std::size_t, std::size_t>;

constexpr std::size_t kAligned = 256;  // as memory of a card begins

struct Recorded {
  CUgraph graph = nullptr;
  CUgraphExec made = nullptr;
};

struct Kept {
  std::map<Key, Recorded> graphs;
  std::map<Key, AlignedMemory> memory;
  std::map<std::tuple<ncclComm_t, const std::byte*, std::size_t>, void*> registered;
  std::set<std::string> so, plain;  // calls that were made in the form, and those that were not
};
Kept of_case;

Key key_of(ncclComm_t comm, const Call& c) {
  return {comm, c.name, c.type, c.op, c.in, c.out, c.in_bytes, c.out_bytes};
}

std::byte* memory_for(ncclComm_t comm, const Call& c, std::size_t bytes) {
  AlignedMemory& memory = of_case.memory[key_of(comm, c)];
  if (!memory) memory = aligned(bytes, card::card_hands());
  return memory.get();
}

void copy_there(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0)
    card::check(card::the_driver().MemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to),
                                                   reinterpret_cast<CUdeviceptr>(from), bytes, stream()),
                "cuMemcpyDtoDAsync");
}

void make(ncclComm_t comm, const Call& c, const std::byte* in, std::byte* out) {
  check(c.make(in, out, c.count, comm, stream()), comm, c.name);
}

void in_place(ncclComm_t comm, const Call& c) {
  if (c.in_bytes <= c.out_bytes) {
    copy_there(c.out + c.own, c.in, c.in_bytes);
    return make(comm, c, c.out + c.own, c.out);
  }
  std::byte* there = memory_for(comm, c, c.in_bytes);
  copy_there(there, c.in, c.in_bytes);
  make(comm, c, there, there + c.own);
  copy_there(c.out, there + c.own, c.out_bytes);
}

void misaligned(ncclComm_t comm, const Call& c) {
  const std::size_t apart = (c.width + c.in_bytes + kAligned - 1) / kAligned * kAligned;
  std::byte* in = memory_for(comm, c, apart + c.width + c.out_bytes) + c.width;
  std::byte* out = in + apart;
  copy_there(in, c.in, c.in_bytes);
  make(comm, c, in, out);
  copy_there(c.out, out, c.out_bytes);
}

// A call is made as it comes before it is captured: the first of a communicator makes what its algorithm needs,
// and sets it on the legacy stream, which ends a capture.
void replayed(ncclComm_t comm, const Call& c) {
  const card::Driver& driver = card::the_driver();
  auto& [graph, ready] = of_case.graphs[key_of(comm, c)];
  if (!ready) {
    make(comm, c, c.in, c.out);
    finish(comm, stream(), c.name);
    card::check(driver.StreamBeginCapture(stream(), CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
    make(comm, c, c.in, c.out);
    card::check(driver.StreamEndCapture(stream(), &graph), "cuStreamEndCapture");
    card::check(driver.GraphInstantiateWithFlags(&ready, graph, 0), "cuGraphInstantiateWithFlags");
  }
  card::check(driver.GraphLaunch(ready, stream()), "cuGraphLaunch");
}

void register_once(ncclComm_t comm, const std::byte* at, std::size_t bytes) {
  void*& handle = of_case.registered[{comm, at, bytes}];
  if (handle || bytes == 0) return;
  check(nccl().CommRegister(comm, const_cast<std::byte*>(at), bytes, &handle), comm, "ncclCommRegister");
}

// The second half begins where the elements of the first end.
void halves(ncclComm_t comm, const Call& c, ncclComm_t of_second, CUstream stream_of_second) {
  const std::size_t first = c.count / 2, at = first * c.width;
  check(c.make(c.in, c.out, first, comm, stream()), comm, c.name);
  check(c.make(c.in + at, c.out + at, c.count - first, of_second, stream_of_second), of_second, c.name);
}

}  // namespace

void carry_out(Form form, ncclComm_t comm, const Call& c) {
  const bool halved = form == Form::two || form == Form::grouped;
  (halved && !c.divides ? of_case.plain : of_case.so).insert(c.name);
  if (form == Form::two && c.divides) {
    halves(comm, c, second_of(comm), second_stream());
    finish(second_of(comm), second_stream(), c.name);
  } else if (form == Form::grouped && c.divides) {
    in_group(comm, [&] { halves(comm, c, comm, stream()); });
  } else if (form == Form::in_place) {
    in_place(comm, c);
  } else if (form == Form::misaligned) {
    misaligned(comm, c);
  } else if (form == Form::graph) {
    replayed(comm, c);
  } else {
    if (form == Form::registered)
      register_once(comm, c.in, c.in_bytes), register_once(comm, c.out, c.out_bytes);
    make(comm, c, c.in, c.out);
  }
  finish(comm, stream(), c.name);
}

void made_plain(const char* call) { of_case.plain.insert(call); }

std::string in_which_form(std::string_view form) {
  std::string words = fmt::format("form={}: {}", form, fmt::join(of_case.so, ", "));
  if (of_case.so.empty()) words = fmt::format("form={}: no call", form);
  if (!of_case.plain.empty()) words += fmt::format("; plain: {}", fmt::join(of_case.plain, ", "));
  return words;
}

bool has_form(Form form, const std::string& kind) {
  if (form == Form::plain || kind == "all-reduce") return true;
  const bool halves = form == Form::two || form == Form::grouped;
  return !halves && (kind == "reduce-scatter" || kind == "all-gather");
}

std::byte* allocate_to_register(std::size_t bytes) {
  void* at = nullptr;
  const ncclResult_t result = nccl().MemAlloc(&at, std::max<std::size_t>(bytes, 1));
  if (result == ncclSuccess) return static_cast<std::byte*>(at);
  const DeviceMemory& memory = card::card_hands().memory;
  std::byte* by_driver = memory.allocate(bytes);
  if (result == ncclUnhandledCudaError && !by_driver) return nullptr;
  if (by_driver) memory.free(by_driver);
  return check(result, nullptr, "ncclMemAlloc"), nullptr;
}
void free_to_register(std::byte* at) { static_cast<void>(nccl().MemFree(at)); }

void forget_forms() {
  const card::Driver& driver = card::the_driver();
  for (const auto& [key, graph] : of_case.graphs) {
    if (graph.made) static_cast<void>(driver.GraphExecDestroy(graph.made));
    if (graph.graph) static_cast<void>(driver.GraphDestroy(graph.graph));
  }
  for (const auto& [key, handle] : of_case.registered)
    if (handle) static_cast<void>(nccl().CommDeregister(std::get<0>(key), handle));
  of_case = {};
}

}  // namespace plumb::nccl
