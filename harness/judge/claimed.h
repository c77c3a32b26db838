// A free result is judged as the backend claims it.
#pragma once

#include <optional>

#include "adapters/protocol/outcome.h"
#include "harness/judge/verdict.h"
#include "reference/words/op.h"

namespace plumb {

// How the (first) result is said to lie; nullopt where nothing is said.
std::optional<std::string> claim_of(const Outcome&);

// What a backend says a layout is: the spec, or why the text is none.
struct NamedLayout {
  std::optional<Spec> spec;
  std::string error;
};
NamedLayout layout_named(const std::string& text, const Mesh&);

// An axis of a layout over which the program is not written, if there is one.
std::optional<AxisId> axis_outside(const Case&, const Spec& layout);

// The case with its free result laid out as claimed, or, where nothing is claimed, as the slices of its
// blocks lie. The case itself where the result is not free; where the slices are those of no layout; where
// the claim is one that this result cannot have: of another dtype or shape, or unfinished.
Case as_claimed(const Case&, const Outcome&);

// `misplaced`, of a case that is still free: the claim cannot be; or nothing is claimed and the slices
// that the blocks say they are do not say enough. Where nothing is claimed every block must say its
// slice, one range a dimension, and together they must hold every element, divided evenly (see claimed.cc).
std::vector<Fact> free_facts(const Case&, const Outcome&);

}  // namespace plumb
