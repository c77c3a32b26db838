#include "adapters/nccl/forms.h"

#include <map>
#include <tuple>
#include <vector>

#include "adapters/card/memory.h"
#include "adapters/rank/blocks.h"

namespace plumb::nccl {
namespace {

using Key = std::tuple<ncclComm_t, const std::byte*, std::byte*, std::size_t>;

struct Kept {
  std::map<Key, CUgraphExec> graphs;
  std::map<Key, AlignedMemory> memory;
  std::map<std::pair<ncclComm_t, const std::byte*>, void*> registered;
};
Kept of_case;

Key key_of(ncclComm_t comm, const Call& c) { return {comm, c.in, c.out, c.in_bytes}; }

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
  std::byte* in = memory_for(comm, c, c.in_bytes + c.out_bytes + 3 * c.width) + c.width;
  std::byte* out = in + c.in_bytes + c.width;
  copy_there(in, c.in, c.in_bytes);
  make(comm, c, in, out);
  copy_there(c.out, out, c.out_bytes);
}

void replayed(ncclComm_t comm, const Call& c) {
  const card::Driver& driver = card::the_driver();
  CUgraphExec& graph = of_case.graphs[key_of(comm, c)];
  if (!graph) {
    CUgraph recorded = nullptr;
    card::check(driver.StreamBeginCapture(stream(), CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture");
    make(comm, c, c.in, c.out);
    card::check(driver.StreamEndCapture(stream(), &recorded), "cuStreamEndCapture");
    card::check(driver.GraphInstantiateWithFlags(&graph, recorded, 0), "cuGraphInstantiateWithFlags");
  }
  card::check(driver.GraphLaunch(graph, stream()), "cuGraphLaunch");
}

void register_once(ncclComm_t comm, const std::byte* at, std::size_t bytes) {
  void*& handle = of_case.registered[{comm, at}];
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

void forget_forms() {
  for (const auto& [key, handle] : of_case.registered)
    if (handle) static_cast<void>(nccl().CommDeregister(key.first, handle));
  of_case = {};
}

}  // namespace plumb::nccl
