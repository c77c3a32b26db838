// What the library does without any of this: for a clock.
#pragma once

#include <functional>
#include <string>

#include "adapters/nccl/library.h"
#include "adapters/protocol/outcome.h"
#include "adapters/rank/clocks.h"
#include "adapters/rank/execute.h"

namespace plumb::nccl {

// The one call that the trace of a case says, on memory of its own. Once all of a team have met it is made
// once, and timed from its issue until its stream is done. Nothing where the trace says another number of
// them, or one that is not made here: every block as large as the others, of f32, f64 or bf16.
std::function<std::int64_t()> plain_call(const Mesh&, const Ready&, const Team& all);

// What this rank does at best with others and so many bytes: sends them to the next rank of a team while as
// many come from the one before (`send`), or both ways between the ranks of each pair (`link 0-1 2-3`), the
// others idle; or adds them up with all others (`sum`). Nothing where it is none of these.
std::function<void()> at_best(const std::string& what, std::size_t bytes, const Team& all);

// Waits for all of a team.
void meet(const Team& all);

// For clocks to be asked by.
Mail mail_among(const Team& all);

}  // namespace plumb::nccl
