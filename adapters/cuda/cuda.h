// Virtual devices on one card, or on this processor in its place.
#pragma once

#include "adapters/cuda/device.h"
#include "adapters/plan/plan.h"
#include "adapters/protocol/serve.h"
#include "adapters/rank/execute.h"

namespace plumb::cuda {

struct Cuda : Backend {
  const Device* device = nullptr;
  std::string why;  // there is no device
  Style style = Style::direct;
  Order order = Order::direct;

  // The next case.
  Plan plan;
  Ready ready;
  std::int64_t received = 0;  // bytes that were sends of the plan

  nlohmann::json hello(const Mesh& first) override;
  std::optional<Unsupported> prepare(const Request&) override;
  std::optional<Stages> stages(const Request&) override;
  Reply run(const Request&, Arena&) override;

 private:
  Holder all() const;
  Outcome given(Arena*) const;
};

}  // namespace plumb::cuda
