// One call of the library, and the ways of making it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

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
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
};

// Made, and over. What a form needs besides, memory, a graph, a registration, is made the first time that a
// case makes the call, and kept until it is forgotten: before the blocks of the case are, for they are
// registered, and before its communicators, which would wait for their graphs.
void carry_out(Form, ncclComm_t, const Call&);

// The other calls of the library are plain, and say so: "form=graph: ncclAllReduce; plain: ncclReduce".
void made_plain(const char* call);
std::string in_which_form(std::string_view name_of_the_form);

// Whether calls of a kind of the trace can be made in the form, where the shares are of one size.
bool has_form(Form, const std::string& kind);

// Memory that the library can register: not every allocation of CUDA is. Null where the
// card has no more; throws where that is not why.
std::byte* allocate_to_register(std::size_t bytes);
void free_to_register(std::byte*);

void forget_forms();

}  // namespace plumb::nccl
