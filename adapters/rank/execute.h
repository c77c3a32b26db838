// Makes ready and carries out a whole plan, as one process sees it.
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

// How several processes take the larger of what each knows along axes, made ready; `said` is the trace's
// word.
using Largest =
    std::function<std::function<void(Magnitudes&)>(const Collective& said, const std::vector<AxisId>&)>;

// Makes the local products of a plan.
using Multiply = std::function<void(const Plan&, const Blocks& lhs, const Blocks& rhs, Blocks& out)>;

// A process: the devices it holds, how it reaches the others, and who is shown its blocks.
struct Rank {
  Holder holder;
  Carry carry;
  Largest largest;                             // empty: this one holds all devices
  std::function<void(Moment, Blocks&)> shown;  // empty: nobody
  Multiply multiply{};                         // empty: by this processor
  bool averages = false;                       // a library makes means: Combine::parts
};

// What becomes known of the values of an operand while a case runs.
struct Learned {
  Magnitudes magnitudes;
  Scales scales;
  std::vector<Delayed> next;
};

// A case made ready for one process, once: the memory of its operands and results, what is done, in order,
// and what all issue. Of several processes the trace is what they call a library for, of one what its plan
// says; `received` are the bytes of what is no send of the plan. The plan and what the rank refers to outlive
// it.
struct Ready {
  Passage passage;
  std::vector<Blocks*> operands, results;
  std::vector<Spec> given;      // the operands' layouts
  std::deque<Learned> learned;  // of values that are quantized
  Trace trace;
  std::vector<std::vector<Amount>> amounts;  // of several processes: bytes, of each call, of every device
  std::int64_t received = 0;
};
Ready make_ready(const Case&, const Plan&, const Rank&);

// Every device receives its block of the operands, an unfinished one's part.
void load_operands(const Ready&, const Holder&, const Write&);

// Moves and computes; the seconds that it took.
double carry_out(const Ready&);

}  // namespace plumb
