// The embedded backend: virtual devices that own separate memory, all in one process.
#pragma once

#include <functional>

#include "adapters/plan/plan.h"
#include "adapters/protocol/serve.h"
#include "adapters/rank/blocks.h"

namespace plumb::local {

// Where a value stands when Seams::block sees it.
enum class Moment : std::uint8_t {
  loaded,      // an operand, as every device received it
  ready,       // an operand, in the layout in which it is multiplied
  multiplied,  // the local products, parts of the result
  result       // the result, before it is handed over
};

// Where somebody else may look at what `local` does and change it. Each may be empty.
struct Seams {
  std::function<void(Plan&)> plan;                            // before it is carried out
  std::function<void(Moment, Blocks&)> block;                 // between its stages
  std::function<Reply(Reply, const Request&, Arena&)> reply;  // before it is sent
};

struct Local : Backend {
  Style style = Style::direct;
  bool plans_only = false;  // it returns what it planned, and no data
  Seams seams;
  nlohmann::json hello(const Mesh& first) override;
  Reply run(const Request&, Arena&) override;
};

// What a plan gives: the result in its memory, what was issued, and the bytes that were received.
struct Done {
  std::vector<Blocks> results;
  Trace trace;
  std::int64_t received = 0;
};

// Carries out a plan on whole operands (as in a Request).
Done execute(const Plan&, const std::vector<Operand>&, const Seams&);

// The same of the op quantize; `results` are its layouts.
Done quantize(const Plan&, const std::vector<Spec>& results, const std::vector<Operand>&, const Seams&);

}  // namespace plumb::local
