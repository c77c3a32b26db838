// Whether what a device needs can have come to it by the collectives of a trace.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/bytes/move.h"

namespace plumb {

// An element that a device needs, and a device that holds it of which the trace takes nothing there.
struct Lack {
  std::int64_t device = 0;
  std::vector<std::int64_t> index;
  std::int64_t holder = 0;
  std::vector<AxisId> across;  // along which the holder lies elsewhere
};

// What each device needs of an array that lies as `from`: slices, of a sum all their parts. The devices of a
// fibre along `together` need it together.
struct Needed {
  const Mesh& mesh;
  const Spec& from;
  Rule rule;
  std::function<std::vector<Slice>(std::int64_t device)> of;
  std::vector<AxisId> together;
  bool extreme = false;  // a sum is the largest or smallest of its parts, and nothing is added up
};

// The first element of them that a device cannot have been brought.
//
// What is brought is never counted as less than it is, so that a lack is certain: each device has its own;
// a collective gives every member of a group what any of them has, a permute the target what the source has,
// and one that names nobody all to all. A broadcast gives what one member of each group has, and what adds up
// where the largest or smallest is due what one has of each element: all choices are tried, up to 1,024.
// One that moves nothing gives nothing. A loop of one permute, or several of its like, is so many steps
// (written_out); other collectives that follow each other and ran in a loop (several times, or nobody knows
// how often) give all that they join to all. Of more than 2^24 pairs of a device and a block
// a group counts as the whole fibre along which it extends. O(devices x blocks / 64) a collective, O(devices)
// where all are along axes.
std::optional<Lack> lack(const Needed&, std::span<const Collective>);

// Of a device's block of a target; what it leaves unfinished a fibre needs together.
std::optional<Lack> lack(const Move&, std::span<const Collective>);

// "device 0 (x=0,y=0) needs element [4] of device 2 (x=1,y=0), and no collective takes it there across x"
std::string lack_in_words(const Mesh&, const Lack&);

// An element of an operand that a device cannot have (needs.h); empty where none, or where
// nobody says which slices devices hold.
std::string out_of_reach(const Case&, const Outcome&);

// The axes that may join devices by these collectives: those that they name or along which their groups and
// pairs extend; all axes where one names nobody.
std::vector<AxisId> joined_axes(const Mesh&, std::span<const Collective>);

}  // namespace plumb
