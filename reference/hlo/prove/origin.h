// What the integers of a module are made of: parameters, step by step, and numbers that are there.
#pragma once

#include <functional>
#include <set>

#include "reference/hlo/module/module.h"
#include "reference/hlo/prove/solved.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {

// Where the numbers of a value come from: parameters of the module, and iotas of so many; of predicates it is
// known which parameters they were made of, and no number is made of them. Where parts of an
// array come from elsewhere than others, as the columns of the indices of `x[i, j]` do: each of its
// `columns`, which lie along one dimension.
struct Origin {
  std::set<std::int64_t> parameters{};
  bool changed = false;      // they are no longer the parameters' own
  bool by_device = false;    // each device adds a number of its own
  bool unknown = false;      // or of floats, of sums: of what is not followed
  std::int64_t counted = 0;  // 0: no iota
  std::int64_t summed = 0;   // so many terms in a sum; 0: no sum of several
  Integers at_zero{};        // what they are, where all parameters are zero: some of these, ascending
  std::vector<Chain> chains{};
  std::set<std::int64_t> indices{};  // parameters that say where the numbers stand in what they are taken from
  std::vector<Origin> parts{};
  std::int64_t along = 0;
  std::vector<Origin> columns{};  // none: not told apart
};

// Tells `visit` of each instruction that the entry comes to, with its computation, where its operands come
// from, and whether it says how long a loop runs. Those of reductions, scatters and sorts are not gone into. What
// pauses may throw: loops within each other take long.
struct Followed {
  const Instruction& is;
  const Computation& within;
  const std::vector<Origin>& operands;
  bool counts = false;
};
void each_origin(const Module&, const Pause&, const std::function<void(const Followed&)>& visit);

}  // namespace plumb::hlo
