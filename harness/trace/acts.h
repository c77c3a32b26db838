// The collectives of a plan as they are executed.
#pragma once

#include <span>
#include <vector>

#include "adapters/protocol/outcome.h"

namespace plumb {

struct Act {
  const Collective* one;
  std::vector<std::vector<std::int64_t>> groups;
  std::vector<char> keeps;  // of a permute, for each pair: whether the target keeps its own beside
  bool sums() const;
  bool scatters() const { return one->kind == "reduce-scatter"; }
  bool exchanges() const { return one->kind == "all-to-all"; }
  bool broadcasts() const { return one->kind == "collective-broadcast"; }
};

// Those that move anything; they point into the trace. Of a loop (several times, or nobody knows how often)
// what follows each other is one: whoever they join has what any of them had.
std::vector<Act> acts_of(const Mesh&, std::span<const Collective>);

// ways[t][device]: the devices that what this one holds before act t can reach, a bit each.
using Bits = std::vector<std::uint64_t>;
inline bool contains(const Bits& bits, std::int64_t i) { return bits[i / 64] >> i % 64 & 1; }
std::vector<std::vector<Bits>> ways(const Mesh&, const std::vector<Act>&);

// origins[t][device]: the devices of which this one can have anything before act t.
std::vector<std::vector<Bits>> origins(const Mesh&, const std::vector<Act>&);

}  // namespace plumb
