// One call of the library, and the ways of making it.
#pragma once

#include <functional>

#include "adapters/nccl/library.h"

namespace plumb::nccl {

// `make` is told from where, to where, how many elements, by which communicator and on which stream. Of the
// two ends the smaller one lies `own` bytes behind the beginning of the larger where a call is made in place.
struct Call {
  const char* name;
  std::function<ncclResult_t(const std::byte*, std::byte*, std::size_t, ncclComm_t, cudaStream_t)> make;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t count = 0, in_bytes = 0, out_bytes = 0, width = 1, own = 0;
  bool divides = false;  // into halves: an all-reduce
};

// Made, and over. What a form needs besides, memory, a graph, a registration, is made the first time that a
// case makes the call, and kept until the next case.
void carry_out(Form, ncclComm_t, const Call&);
void forget_forms();

}  // namespace plumb::nccl
