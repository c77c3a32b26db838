// Carries out a whole plan, as one process sees it.
#pragma once

#include <functional>
#include <vector>

#include "adapters/protocol/serve.h"
#include "adapters/rank/legs.h"
#include "adapters/rank/quantize.h"

namespace plumb {

// Where a value stands when somebody is shown it.
enum class Moment : std::uint8_t {
  loaded,      // an operand, as every device received it
  ready,       // an operand, in the layout in which it is multiplied
  multiplied,  // the local products, parts of the result
  result       // the result, before it is handed over
};

// A process: the devices it holds, how it reaches the others, and who is shown its blocks.
struct Rank {
  Holder holder;
  Carry carry;
  std::function<void(Magnitudes&)> largest;    // of what all processes know; empty: this one knows all
  std::function<void(Moment, Blocks&)> shown;  // empty: nobody
};

// The results in their memory, what was issued by all, and the bytes that were received of what is no send of
// the plan.
struct Done {
  std::vector<Blocks> results;
  Trace trace;
  std::int64_t received = 0;
};

// Whole operands, as in a Request.
Done execute(const Plan&, const std::vector<Operand>&, const Rank&);

// The same of the op quantize; `results` are its layouts.
Done quantize(const Plan&, const std::vector<Spec>& results, const std::vector<Operand>&, const Rank&);

}  // namespace plumb
