// NCCL as a library of collectives (adapters/rank/calls.h), of blocks in a GPU's memory.
#pragma once

#include <string>
#include <vector>

#include "adapters/nccl/communicators.h"
#include "adapters/nccl/counted.h"

namespace plumb::nccl {

// Every rank begins every case (begin_mesh).
void begin_case(const Mesh&);

// Collectives among ranks, a device each, each of which is over when it returns. What the library has for an
// error is thrown, after everything was aborted.
Calls calls();

// What the library told of each call since this was asked last. Not of calls that were captured in a graph.
std::vector<std::vector<Told>> calls_told();

// They are told of from the beginning of a case on; and not any more, as under a clock.
void tell_of_calls(bool);

// What each of n ranks counted, those of the mesh: all ask together, of as many calls.
std::vector<std::vector<Counted>> of_all(std::size_t n, const std::vector<Counted>& own);

// The type of NCCL that has these elements; those of e8m0 are moved as bytes.
ncclDataType_t type_of(DType);

// Why a card of this kind, or the library that is here, adds up no such elements; empty where both do.
std::string why_not_added(DType, int sm);

}  // namespace plumb::nccl
