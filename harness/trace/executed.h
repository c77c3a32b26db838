// A plan is executed, cell by cell: who holds which part of which box.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "harness/trace/execution.h"

namespace plumb {

// Why no reading of these collectives makes the blocks; empty where one does; nullopt where there is too much
// to try. Cells are what the edges of all blocks cut the array into. A trace does not say which dimension is
// cut, nor which elements are sent, so that what is moved is taken as most that can be:
//   all-gather, all-to-all, send   every member has what any of them had; before a sum an all-to-all is tried
//                                  as well that leaves it to one member
//   collective-broadcast           and every member what one of them had, the same of each group: each
//                                  is tried, where that is no more than 1,024 choices
//   collective-permute             a target has what its source had, in place of its own, unless it needs
//                                  something of what it is brought: then beside its own; before a sum both
//                                  are tried
//   all-reduce                     of each cell the sum of what members hold, zeros where one has nothing;
//                                  there is none where an atom would be added twice; it is the same on all,
//                                  and so no part of what stays a sum of parts along an axis of the group
//   reduce-scatter                 that sum on one member: each is tried
// A device may cut what it holds, add up what it holds of one cell, and add zeros. An all-reduce gives a
// group no more elements than `in` has, a reduce-scatter a member no more than `out`.
// A program that ran may do more than a plan: nothing is overwritten, and a sum is of as many parts as can
// be.
std::optional<std::string> not_made(const Execution&, std::span<const Collective>);

// Whether the last of these, a sum, adds up different values: else it joins blocks, each among zeros, or adds
// up nothing.
bool adds_values(const Execution&, std::span<const Collective>);

// Whether the others make the blocks without this one, a sum: by each reading by which all of them do.
bool does_nothing(const Execution&, std::span<const Collective>, std::size_t sum);

}  // namespace plumb
