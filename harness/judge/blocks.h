// The blocks of an outcome, read from the arena, with the slice that each is to be compared with.
// Private to the judge.
#pragma once

#include "harness/judge/judge.h"

namespace plumb {

struct Held {
  std::int64_t device = 0;
  Slice asked;                   // of the global array, by the case
  std::optional<Slice> claimed;  // by the framework, where it is one range per dimension
  std::vector<std::byte> bytes;  // dense
  const Slice& slice() const { return claimed ? *claimed : asked; }
};

// A claim with adjacent ranges joined; nullopt where a dimension still has several, or where no claim
// was made.
std::optional<Slice> joined(const Block&);

// Whether two slices hold the same elements: all empty slices do.
bool same(const Slice&, const Slice&);

Held held(const Case&, const Block&, const Read&);

// "dp=0,tp=1"
std::string coordinates_text(const Mesh&, std::int64_t device);

}  // namespace plumb
