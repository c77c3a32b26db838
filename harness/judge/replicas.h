// Do devices that should hold the same hold the same bits?
#pragma once

#include <vector>

#include "harness/judge/verdict.h"
#include "harness/judge/wanted.h"

namespace plumb {

// For each block a number that its replicas share, below the number of blocks.
std::vector<std::int64_t> replica_keys(const Case&, const std::vector<Block>&);

// Whether two devices are due the same.
bool has_replicas(const Case&, const Outcome&);

// `diverged`: devices that agree on every axis that splits or is left unfinished must hold the same
// bits. `right`: the values of every device are, and the text says what is left to differ.
std::vector<Fact> replica_facts(const Case&, const Outcome&, const Read&, bool right);

}  // namespace plumb
