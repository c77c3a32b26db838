// A plan is executed, cell by cell: who holds which part of which box.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "harness/trace/atoms.h"

namespace plumb {

// What a device begins with: a box of an array, each element of it the sum of these atoms.
struct Beginning {
  Slice slice;
  Atoms atoms;
};

// The axes over which `to` is unfinished along which its parts make it together, where it was `from` before:
// along one that is reduced otherwise, or newly averaged, some device holds all of it, and others what leaves
// it as it is. Of these the axes along which `from` was a sum of parts as well.
//   f32[8]+x -> f32[8]+x.y                                together x.y, stays x
//            -> f32[8]+max(y), f32[8]+avg(y)              neither
struct Ends {
  std::vector<AxisId> together, stays;
};
Ends ends(const Spec& from, const Spec& to);

// From what each device begins with to blocks of `to`, of which an element is the sum of `atoms`.
struct Execution {
  const Case& c;
  std::vector<Beginning> from;
  std::int64_t atoms = 1;
  const Spec& to;
  Ends ends{};
  bool idempotent = false;  // of a maximum or minimum: an atom may be taken twice
  bool keeps = false;       // a program, that forgets nothing it had and may mask what it adds
};
Execution execution(const Case&, const Spec& from, const Spec& to);

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

}  // namespace plumb
