// The embedded backend: virtual devices that own separate memory, all in one process.
#pragma once

#include <functional>

#include "adapters/plan/plan.h"
#include "adapters/protocol/serve.h"
#include "adapters/rank/execute.h"

namespace plumb::local {

using plumb::Moment;

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

  // The next case.
  Plan plan;
  Ready ready;
  std::int64_t received = 0;  // bytes that were sends of the plan

  nlohmann::json hello(const Mesh& first) override;
  std::optional<Unsupported> prepare(const Request&) override;
  std::optional<Stages> stages(const Request&) override;
  Reply run(const Request&, Arena&) override;
};

}  // namespace plumb::local
