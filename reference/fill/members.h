// Positions in the parts of a dimension, to put one value into each part.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "reference/fill/hash.h"

namespace plumb {

// Of every index along a dimension: its number among the indices of its part, and how many these are.
struct MembersDrawn {
  std::vector<std::int64_t> number, count;
};

// The parts are what `a` and `b` both tell apart; b may be empty.
inline MembersDrawn members(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const auto part = [&](std::size_t i) { return std::pair(a[i], b.empty() ? 0 : b[i]); };
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> seen;
  MembersDrawn m;
  for (std::size_t i = 0; i < a.size(); ++i) m.number.push_back(seen[part(i)]++);
  for (std::size_t i = 0; i < a.size(); ++i) m.count.push_back(seen[part(i)]);
  return m;
}

// Whether the index is the one drawn for its part.
inline bool drawn(const MembersDrawn& m, std::int64_t index, std::uint64_t random) {
  return m.number[index] == below(random, m.count[index]);
}

}  // namespace plumb
