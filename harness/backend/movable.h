// How many bytes a collective can have moved, by what each of its members had and was left with.
#pragma once

#include "adapters/protocol/outcome.h"
#include "reference/words/mesh.h"

namespace plumb {

// Bytes received from others, over all members and times. Nothing was moved, or as many as these.
struct Movable {
  __int128 least = 0, most = 0;
};

// However it goes about it: straight, around a ring, in doubling steps, up a tree to one member and down from
// it. Of a group of n members, in and out being those of the member that has most:
//                          at least                 at most
//   all-reduce             (n-1) in                 n(n-1) in         all operands on every member
//   all-gather             (n-1) in and out - in    n(n-1) in         or up, n(n-1)/2 in, and down, (n-1) out
//   reduce-scatter         (n-1) out                n(n-1) in         some of in may stay as it is
//   all-to-all             |in - out|               n min(in, out)    log2(n) / 2 times that in steps, n > 4
//   collective-broadcast   (n-1) out                2(n-1) out        cut, scattered and gathered
//   collective-permute     0                        min(in, out) for each that has another source
//   send                   0                        in from each that may send to each of the others, out for
//                                                   each that may receive (from each of the others, if they
//                                                   are added up), whichever is known to be less; 2^62 where
//                                                   neither is
// The least is that of the smallest group. No number is larger than 2^62 times the number of times.
Movable movable(const Collective&, const Mesh&);

// Throws Malformed where what it says that it moved is neither nothing nor between these.
void check_moved(const Collective&, const Mesh&);

}  // namespace plumb
