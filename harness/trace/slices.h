// Which slices devices hold, as blocks say.
#pragma once

#include <optional>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// A claim with adjacent ranges joined; nullopt where a dimension still has several, or where no claim
// was made.
std::optional<Slice> joined(const Block&);

// The slice of result `r` that each device holds: of a result that is still free as its block says; empty
// where one does not.
std::vector<Slice> held_slices(const Case&, const Outcome&, std::size_t r);

}  // namespace plumb
