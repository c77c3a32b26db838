// The blocks of an outcome, read from the arena, with the slice that each is to be compared with.
#pragma once

#include <optional>

#include "harness/judge/wanted.h"

namespace plumb {

struct Held {
  std::int64_t device = 0;
  Slice asked;                   // of the global array, by the case
  std::optional<Slice> claimed;  // by the framework, where it is one range per dimension
  std::vector<std::byte> bytes;  // dense
  const Slice& slice() const { return claimed ? *claimed : asked; }
};

Held held(const Case&, const Block&, const Read&);

// Reads as is read, but that rows of a grouped result which the backend leaves undefined read as what is
// wanted of them: zero, in each of several results. Keeps a reference to the case.
Read masked(const Case&, Read, const Declared&);
std::int64_t masked_rows(const Case&, const Declared&);  // how many rows that are, in the longest result

// A digest of every block's bits, to compare reruns: equal bits give equal digests.
std::uint64_t digest_of_blocks(const Outcome&, const Read&);

}  // namespace plumb
