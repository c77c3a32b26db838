// Which cases plumb bench times, and on what.
#pragma once

#include <map>

#include "harness/command/bench_flags.h"
#include "harness/command/ledger.h"

namespace plumb {

using Entries = std::vector<std::unique_ptr<Entry>>;
using ByBackend = std::map<std::string, Subject>;

// Each chosen case on each backend, of these those that the filter means, at no pace yet; `parted` is told how programs
// end. Starts no program. Throws BadInput where there is none.
Entries entries_of(const Chosen&, ByBackend&, const BenchFlags&, const OfABackend& parted);

// How many cases these are, each on one backend or several.
std::int64_t distinct_cases(const Entries&);

}  // namespace plumb
