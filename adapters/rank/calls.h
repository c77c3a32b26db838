// A library of collectives, as one of several processes calls it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "adapters/rank/arithmetic.h"

namespace plumb {

// Processes, in the order of a fibre of the mesh, and the place of this one among them.
struct Team {
  std::vector<std::int64_t> ids;
  std::size_t mine = 0;
  int number = -1;  // by which the library knows it, once it was made ready
};

// What there is of each member of a team: so many bytes, from `starts` on.
struct Lots {
  std::byte* at = nullptr;
  std::vector<std::int64_t> counts, starts;
};

// What the members put in, one share after another, combined element by element; elements are combine.wire
// all the way. Every member gets its share, or, of an all-reduce, the only one.
struct Combination {
  Combine combine;
  std::span<const std::int64_t> counts;  // elements of each share
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
};

// What each has, for all.
struct Gathering {
  const std::byte* in = nullptr;
  const Lots& out;
};

// What is for each member, and comes from each.
struct Swap {
  const Lots &out, &in;
};

// What goes to one process at most, and comes from one at most; -1: none.
struct Passing {
  std::int64_t to = -1, from = -1;
  std::span<const std::byte> out;
  std::span<std::byte> in;
};

// Every process of a group calls it for every round, one without a part in it too.
struct Calls {
  std::function<void(const Team&, const Combination&)> reduce_scatter, all_reduce;
  std::function<void(const Team&, const Gathering&)> all_gather;
  std::function<void(const Team&, const Swap&)> all_to_all;
  std::function<void(const Passing&)> permute;
  std::function<void(const Team&, std::span<float>)> largest{};  // of each number, none negative; NaN is
  // Makes a team ready that will be called for, and numbers it; its members do so together.
  std::function<void(Team&)> join{};
  // Told before and after a call in what the process waits: words that were made known before, such as
  // "all-gather {} over x", the number of the call its to say.
  std::function<int(const std::string& words)> known{};
  std::function<void(int known)> entering{};
  std::function<void()> leaving{};
};

}  // namespace plumb
