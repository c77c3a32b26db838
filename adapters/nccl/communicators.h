// Communicators of NCCL, and how they are waited for.
#pragma once

#include <nccl.h>

#include <functional>

#include "adapters/card/driver.h"
#include "adapters/nccl/functions.h"
#include "adapters/rank/calls.h"
#include "reference/words/mesh.h"

namespace plumb::nccl {

// How a call is made: as it comes; with its result where it began; one element off the alignment of its
// memory; replayed from a graph; with its buffers registered; as two halves by two communicators at once,
// each on a stream of its own; as two halves in one group. Halves are of an all-reduce alone.
enum class Form : std::uint8_t { plain, in_place, misaligned, graph, registered, two, grouped };

// Who divides where a mean is one call: this processor afterwards; the library, in its own way; or it
// multiplies each part by 1/n of the elements' type first.
enum class Average : std::uint8_t { divided, library, premultiplied };

// How many, and which this one is; how calls are made.
struct World {
  int rank = 0, size = 1;
  Form form = Form::plain;
  bool anew = false;  // communicators, for each case
  int channels = 0;   // 0: as the library chooses
  Average average = Average::divided;
};

// The rank's card was taken. Nothing is said to the library yet.
void start(const World&);

const World& world();
const Functions& nccl();

// Every rank begins every mesh; the first time they make the communicator of all together. Ranks that are no
// devices of it have no part in what follows.
void begin_mesh(const Mesh&);
ncclComm_t communicator_of_mesh();

// Another one of the same ranks, for what is no call of a case: who is there waits for those who are still in
// a call, and is not taken for one of them.
ncclComm_t communicator_beside();

// Every rank of the mesh asks for the teams of its fibres along the same axes, in the same order: all split
// the communicator of the mesh together, or all find that they have.
void join(Team&);

// A communicator of a team that was made ready, and the stream on which its calls are made: after what was
// given to the null stream before, where memory is set, put and worked on. With Form::two each has a second
// one, of the same members, whose calls go beside.
ncclComm_t communicator(const Team&);
ncclComm_t second_of(ncclComm_t);
CUstream stream();
CUstream second_stream();

// Throws where the library says anything but success, after everything was aborted; of a communicator that
// does not block the call is waited for, also where it says success at once (ncclCommSplit does). Within a
// group it is not: what follows may be given at once.
void check(ncclResult_t, ncclComm_t, const char* call);
void in_group(ncclComm_t, const std::function<void()>& calls);

// Waits until all that was given to a stream is done. Throws what the library says of the communicator.
void finish(ncclComm_t, CUstream, const char* call);

// From so many seconds on what waits is given up: everything is aborted, and whoever waits throws GivenUp. 0:
// it is not. A thread of its own sees to it where the one that waits is held in a call.
void give_up_in(double seconds);

// Ends all that is under way, from any thread: what waits for others ends with an error, or not at all.
void abort_all();

}  // namespace plumb::nccl
