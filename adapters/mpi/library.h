// MPI as a library of collectives (adapters/rank/calls.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "adapters/rank/calls.h"
#include "adapters/rank/quantize.h"

namespace plumb::mpi {

// A call and what a process gave to it, or what came to it: counted twice, where it is made and by a layer
// beneath (counted.cc).
struct Made {
  std::string kind;
  std::vector<int> members;  // ranks of the world
  std::int64_t bytes = 0;
  bool operator==(const Made&) const = default;
};

// Starts the library; how many ranks it has, and which this one is.
struct World {
  int rank = 0, size = 1;
};
World start();
void finish();

// Collectives among ranks, a device each. Communicators are made when they are first needed, and kept.
Calls calls();

// The larger of what the ranks below `devices` know.
void take_largest(Magnitudes&, std::int64_t devices);

// What was called since this was called last, as it was meant and as it was counted beneath.
std::vector<Made> meant(), counted();

// Counts a call of the layer beneath.
void count(Made);

}  // namespace plumb::mpi
