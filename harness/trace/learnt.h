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
// the parts that can have come to it. Nothing is ever forgotten.
//   all-gather, all-to-all         what the others know
//   collective-permute             what the source knows
//   collective-broadcast           what one member knows: each is tried, up to 1,024 choices
//   all-reduce, reduce-scatter     of each sum what every other member knows of it
//   a loop of permutes alike       so many steps one after another
//   send, and another loop         values may go by way of others: each is of all parts that can have come
//   on x=4: f32[8]+x -> f32[8] by a gather of 8 bytes and then a scatter into 8: each device knows 8 terms,
//   is brought 6 of single parts, and 2 sums of 4 terms: 22 of 32
//
// Where only some of the parts are anything, the numbers of these: the others are zeros, of which nobody
// knows or needs a term.
std::string learnt_too_little(const Case&, const Trace&, const std::vector<std::int64_t>& parts = {});

}  // namespace plumb
