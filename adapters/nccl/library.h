// NCCL as a library of collectives (adapters/rank/calls.h), of blocks in a GPU's memory.
#pragma once

#include "adapters/nccl/communicators.h"

namespace plumb::nccl {

// Every rank begins every case (begin_mesh).
void begin_case(const Mesh&);

// Collectives among ranks, a device each, each of which is over when it returns. What the library has for an
// error is thrown, after everything was aborted.
Calls calls();

// The type of NCCL that has these elements; those of e8m0 are moved as bytes.
ncclDataType_t type_of(DType);

// Whether a card of this kind adds up such elements: of 8 bits from sm_90 on.
bool adds(DType, int sm);

}  // namespace plumb::nccl
