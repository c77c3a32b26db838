// Is the result laid out as asked, and as claimed?
#pragma once

#include <optional>

#include "adapters/protocol/outcome.h"
#include "harness/judge/verdict.h"
#include "reference/words/op.h"

namespace plumb {

// A `misplaced` fact for: a slice that is not the asked block; a block that says nothing and has
// another size; a claimed spec whose blocks or unfinished axes differ from those asked, or from the
// slices the framework gave.
std::vector<Fact> layout_facts(const Case&, const Outcome&);

// A `mistrusted` fact for a plan that claims no layout and no slice.
std::optional<Fact> said_nothing(const Outcome&);

}  // namespace plumb
