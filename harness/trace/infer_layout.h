// The layout that slices make.
#pragma once

#include <optional>

#include "adapters/protocol/outcome.h"
#include "reference/words/op.h"

namespace plumb {

// A finished layout of the result by which every device holds the slice that its block says; nothing where
// there is none, where a block does not say its slice, or after 2^17 tries.
std::optional<Spec> layout_of_slices(const Case&, const Outcome&);

}  // namespace plumb
