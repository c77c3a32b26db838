// How much of its block each device can have learnt, one collective after another.
#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// Of a reshard the first device that cannot have learnt all of its block; empty where none, and where the
// result is free or unfinished, or extremes are taken.
//
// What is counted are terms: an element is the sum of as many as there are parts, and a device begins with
// one of each element of its own. A value that moves is the sum of some terms of one element, so that k
// values of a device bring no more terms than it knows, than k and what it learnt before, and than k times
// the parts that can have come to it; but for the part of which the other has the whole array. Nothing is
// ever forgotten. Nor can all devices together have learnt less than they lack together: what a gather brings
// is the same for all, and a value of an exchange goes to one. Nor can a side of the mesh (sides.h) have less
// than it needs of what it had and what others told it: what they heard of it, or at once with it, is not
// new.
//   all-gather, all-to-all         what the others know
//   collective-permute             what the source knows
//   collective-broadcast           what one member knows: each is tried, up to 1,024 choices
//   all-reduce, reduce-scatter     of each sum what every other member knows of it
//   a loop of permutes alike       so many steps one after another
//   send, and another loop         values may go by way of others: each is of all parts that can have come
//   on x=4: f32[8]+x -> f32[8] by a gather of 8 bytes and then a scatter into 8: each device knows 8 terms,
//   is brought 6 of single parts, and 2 sums of 3 terms beside its own: 20 of 32
//   on x=3: f32[]+x -> f32[] by an exchange of 4 bytes into 12: each device can be told both terms that it
//   lacks, and of 6 no more than 3 are said
//   on x=3: f32[2]+x -> f32[2] by gathers of 4 bytes into 12 and of 4 into 8: after the first each value
//   tells a term of its sender and none that it heard, for all heard it: 3 and then 2 values tell two others
//   each
//   on x=2,y=2: f32[1@x.y,3] -> f32[1,3] by gathers of all over y, of 4 bytes over x and twice of 8 over y:
//   devices 2 and 3 are told a value each, and tell each other no third
//
// Where only some of the parts are anything, the numbers of these: the others are zeros, of which nobody
// knows or needs a term.
std::string learnt_too_little(const Case&, const Trace&, const std::vector<std::int64_t>& parts = {});

}  // namespace plumb
