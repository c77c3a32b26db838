// What the library does without any of this: for a clock.
#pragma once

#include <functional>
#include <string>

#include "adapters/mpi/library.h"
#include "adapters/rank/clocks.h"
#include "adapters/rank/execute.h"

namespace plumb::mpi {

// The one call that the trace of a case says, from its operand to its result, for which pages memory has
// makes more of a difference than all else; on memory of its own where they are not what the call takes and
// gives. Once all of a team have met it is made once, and timed by MPI's clock. Nothing where the trace says
// another number of them, or one that is not made here: sums of f32 and f64 alone, every block as large as the
// others.
std::function<std::int64_t()> plain_call(const Mesh&, const Ready&, const Team& all);

// Sends so many bytes: to the next rank of a team while as many come from the one before (`send`), or both
// ways between the ranks of each pair (`link 0-1 2-3`), the others idle. Nothing where it is neither.
std::function<void()> bare(const std::string& what, std::size_t bytes, const Team& all);

// For clocks to be asked by.
Mail mail_among(const Team& all);

// What this rank packs, alone; nothing where no rank of the team packs anything, for all begin each turn together.
std::function<void()> packing_among(const Team& all, std::function<void()> mine);

// Whether ranks of the world have said several numbers; all of them ask.
bool several(std::int64_t number);

}  // namespace plumb::mpi
