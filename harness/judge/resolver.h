// Does a resolver lay an array out as the policy `first` does?
#pragma once

#include "adapters/protocol/outcome.h"
#include "harness/judge/verdict.h"
#include "reference/words/op.h"

namespace plumb {

// The verdict of a resolver that answered, by layout:
//   first has a layout   misplaced where a device holds another block by the claim or by its slice
//   first has none       misplaced: any layout hides the error
Verdict judge_resolver(const Case&, const Outcome&);

// The verdict of a resolver that says, in these words, that there is no layout: a pass where `first` has none
// either, else reneged.
Verdict judge_refusal(const Case&, const std::string& message);

}  // namespace plumb
