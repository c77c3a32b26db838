// Virtual devices on one card, or on this processor in its place.
#pragma once

#include <memory>

#include "adapters/cuda/cublaslt_products.h"
#include "adapters/cuda/device.h"
#include "adapters/plan/plan.h"
#include "adapters/protocol/serve.h"
#include "adapters/rank/execute.h"

namespace plumb::cuda {

struct Cuda : Backend {
  const Device* device = nullptr;
  std::string why;  // it can do nothing
  Style style = Style::direct;
  Order order = Order::direct;
  const CublasLtProducts* products = nullptr;  // null: our kernels

  // The next case.
  Plan plan;
  Ready ready;
  std::int64_t received = 0;  // bytes that were sends of the plan
  std::shared_ptr<MadeBy> made_by = std::make_shared<MadeBy>();  // the products

  nlohmann::json hello(const Mesh& first) override;
  const DeviceCheck* memory() const override { return device ? device->memory : nullptr; }
  bool lost() const override { return device && device->lost(); }
  std::optional<Unsupported> prepare(const Request&) override;
  std::optional<Stages> stages(const Request&) override;
  Reply run(const Request&, Arena&) override;

 private:
  Holder all() const;
  Outcome given(Arena*) const;
  Multiply multiplying(std::shared_ptr<MadeBy>) const;
  std::function<void()> bare_product() const;
  std::function<std::int64_t()> bare_call() const;
};

}  // namespace plumb::cuda
