// MPI as a library of collectives (adapters/rank/calls.h).
#pragma once

#include <mpi.h>

#include <string>

#include "adapters/protocol/outcome.h"
#include "adapters/rank/calls.h"

namespace plumb::mpi {

// Starts the library; how many ranks it has, and which this one is.
struct World {
  int rank = 0, size = 1;
};
World start();
void finish();

// Collectives among ranks, a device each. Communicators are made when a team is made ready, and kept.
Calls calls();

// Its calls are numbered from 1; with `anew` no communicator of an earlier case is left. Every rank begins
// every case.
void begin_case(bool anew);

// Counts that are given to the library; more go in units of several bytes or elements. For tests: it is that
// of an int.
void count_at_most(std::int64_t);

// Kept for a team that was made ready.
MPI_Comm communicator(const Team&);

}  // namespace plumb::mpi
