// How many cases came to what, by suite and backend.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/judge/verdict.h"

namespace plumb {

struct Count {
  std::string suite, backend;
  std::array<std::int64_t, statuses> by_status{};  // pass: those of which all was judged
  std::array<std::int64_t, pass_kinds> by_pass{};  // the other passes, by what they rest on
  std::map<std::string, std::int64_t> reasons;     // of what is unsupported
};

struct Tally {
  std::vector<Count> counts;  // in the order they were first seen
};

void add_verdict(Tally&, const std::string& suite, const std::string& backend, const Verdict&);

// Law: the columns of a row add up to its cases, and the rows to the total.
std::int64_t cases(const Count&);
std::int64_t passes(const Count&);
Count total(const Tally&);
std::int64_t findings(const Count&);

// 0: only pass, waived, unsupported and unrun, and at least one of the first two; 1: findings; 2: nothing was
// run.
int exit_code(const Tally&);

}  // namespace plumb
