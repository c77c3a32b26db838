// Makes ready the way of a value through the legs of a plan, as one process sees it.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "adapters/protocol/outcome.h"
#include "adapters/rank/moves.h"
#include "adapters/rank/round_call.h"

namespace plumb {

// The format in which a value of this layout is kept: its dtype, or the wire type where the sum is
// unfinished, will go on, and the wire is wider.
DType kept_as(const Plan&, const Spec&, bool last);

// One leg of a plan, and the format in which the value is kept at its end.
struct Stage {
  const Plan& plan;
  const Leg& leg;
  DType stored;
};

// A round made ready: what carries it out, and where that is a call of a library, the call as the trace says
// it.
struct Carried {
  std::function<void()> act;
  std::optional<Called> called;
  std::function<void()> packing{};  // before the call and after it, without it; empty: nothing is packed
};

// How the sends of a round of a leg are carried out: each arrives once, in any order, before it is over, but
// that sums beside the parts are added up in the order of the plan. A process that holds all devices moves
// them; one of several packs, calls its library and unpacks (steps.h).
using Carry = std::function<Carried(const Link&, const Leg&, const Round&)>;

// A value's way, made ready once: the blocks that it takes, each staying where it is, and what is done with
// them, in order, as often as wanted.
struct Passage {
  std::deque<Blocks> blocks;
  std::vector<std::function<void()>> acts;
  bool changes = false;             // what it began with: sums are added up there
  std::vector<std::string> packed;  // calls of a library that are packed: "all-gather over x"
  std::vector<std::function<void()>> packings{};  // theirs, alone: what is packed and unpacked then is of no run
};

// Adds one leg: where the value then is. Sums add up in the accumulate type, each part rounded to the wire
// type when it is sent; what is finished is rounded once to `stored` before it is copied. `called` gets what
// a library is called for.
// Where a library makes means (`averages`), a mean that is one call of it is not divided afterwards.
struct Walker {
  Passage& passage;
  const Carry& carry;
  std::vector<Called>& called;
  bool averages = false;
};
Blocks& walk(const Walker&, const Stage&, Blocks& value);

}  // namespace plumb
