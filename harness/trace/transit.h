// Whether collectives take an array from one layout to another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/trace/executed.h"

namespace plumb {

// What is executed, and the same as a reshard, of which values are counted. Where only some of its parts are
// anything, the numbers of these.
struct Transit {
  Execution e;
  std::optional<Case> reshard;
  std::vector<std::int64_t> parts{};
};
Transit transit(const Case&, const Spec& from, const Spec& to);

// Why these collectives, all of them, do not take the array there; as not_made(). They are executed; none is
// of more than the array has; each device, and each side of the mesh, is brought as many values as it lacks,
// and told as many different ones, where parts stay parts along some axes and nothing crosses these in each
// of the slices that they make; and none is a sum that could be left out, for then it adds up another array,
// or one twice. Sums are taken as they stand, or as pieces. What is less than a value
// is not needed.
std::optional<std::string> lacks(const Transit&, std::span<const Collective>);

// Sums that follow each other among the same devices, as one of all their bytes: each may be of a piece of
// the array. Nothing where there are none, or where they are more than a device then has of the array, with
// what it was gathered: then it is summed twice.
std::optional<Trace> without_pieces(const Case& reshard, std::span<const Collective>);

// The same of a reshard, through whatever constraints, by counting alone.
std::string brings_too_little(const Case& reshard, std::span<const Collective>);

}  // namespace plumb
