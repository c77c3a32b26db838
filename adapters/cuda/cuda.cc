#include "adapters/cuda/cuda.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "adapters/cuda/products.h"
#include "adapters/cuda/rounds.h"
#include "adapters/protocol/clocked.h"
#include "adapters/protocol/json.h"
#include "adapters/rank/added.h"
#include "adapters/rank/at_best.h"
#include "adapters/rank/capabilities.h"
#include "adapters/rank/hand_over.h"
#include "adapters/rank/staged.h"

namespace plumb::cuda {
namespace {

constexpr std::int64_t kMostDevices = 65536;
constexpr double kMostSends = 4e7;  // 7 GB of tables: an all-reduce over 4,096 devices
constexpr double kMostBytes = 16e9;

}  // namespace

nlohmann::json Cuda::hello(const Mesh&) {
  nlohmann::json all = {
      {"name",         "cuda"                                                                                  },
      {"versions",     {{"plumbline", PLUMB_VERSION}}                                                          },
      {"devices",      {{"count", kMostDevices}, {"kind", "virtual, on " + (device ? device->name : "no GPU")}}},
      {"fills",        true                                                                                    },
      {"times",        true                                                                                    },
      {"capabilities", what_ranks_can()                                                                        }
  };
  all["capabilities"]["max_devices"] = kMostDevices;
  if (device) all["capabilities"]["engine"] = products ? "matrix" : device->engine;
  if (products) all["versions"]["cublaslt"] = products->version;
  return all;
}

Holder Cuda::all() const {
  return {
      &plan.mesh, plan.rule, {0, devices(plan.mesh)},
        &device->hands
  };
}

std::optional<Unsupported> Cuda::prepare(const Request& request) {
  if (!why.empty()) return Unsupported{why, "what the driver and the library say"};
  const Case& c = request.c;
  if (most_held_bytes(c) > kMostBytes)
    return Unsupported{
        "blocks of " + std::to_string(static_cast<std::int64_t>(most_held_bytes(c))) + " bytes",
        "the memory of one device"};
  try {
    plan = plumb::plan(c, style, kMostSends);
  } catch (const std::length_error& e) {
    return Unsupported{e.what(), "the memory of one device"};
  }
  made_by = std::make_shared<MadeBy>();
  try {
    ready = make_ready(c, plan, {all(), by_device(*device, order, plan.mesh, received), {}, {}, multiplying(made_by)});
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("the memory of the device is exhausted: " + device->name);
  }
  ready.passage.acts.emplace_back(device->hands.memory.wait);  // so that every clock sees the end of the work
  return {};
}

Outcome Cuda::given(Arena* arena) const {
  Outcome o = hand_over(all(), ready, arena);
  *o.received += received;
  // A ring's plan adds a part to one other in each round, whatever the order within.
  const Order by = style == Style::ring ? Order::ring : order;
  say_how_added(plan.mesh, o.trace, [by](const Collective&, std::int64_t n) {
    return by == Order::direct ? kept_until_finished(n) : by == Order::ring ? one_by_one(n) : in_pairs(n);
  });
  if (!made_by->words.empty()) o.notes.push_back(made_by->words);
  return o;
}

std::optional<Stages> Cuda::stages(const Request& request) {
  Stages s = staged(plan, ready, all(), request.write);
  s.once = [this, once = s.once] { received = 0, once(); };
  s.give = [this] { return given(nullptr); };
  s.limit = [this, others = s.limit](const std::string& what, std::size_t bytes) {
    return what == "gemm" ? bare_product() : others(what, bytes);
  };
  s.call = [this] { return bare_call(); };
  return s;
}

// The local products alone, on blocks of their own; nothing where there are none.
std::function<void()> Cuda::bare_product() const {
  if (!plan.product) return nullptr;
  const LocalProduct& p = *plan.product;
  const auto drawn = [&](const Spec& spec, DType stored) {
    auto blocks = std::make_shared<Blocks>(allocate(all(), spec, stored, Contents::any));
    const SharedMemory data = drawn_like_blocks(blocks->offsets.back(), device->hands);
    device->hands.memory.copy(blocks->memory.get(), data.get(), blocks->offsets.back());
    device->hands.memory.wait();
    return blocks;
  };
  const bool coded = plan.quantizers[0].has_value();
  return [this, multiply = multiplying(std::make_shared<MadeBy>()), lhs = drawn(p.lhs_spec, coded ? DType::f32 : p.lhs_spec.dtype),
          rhs = drawn(p.rhs_spec, coded ? DType::f32 : p.rhs_spec.dtype), out = drawn(p.out_spec, plan.acc)] {
    multiply(plan, *lhs, *rhs, *out);
    device->hands.memory.wait();
  };
}

// Of a case that comes to its local products: these, on its blocks, without what a run has around them.
std::function<std::int64_t()> Cuda::bare_call() const {
  const auto& acts = ready.passage.acts;
  if (!plan.product || acts.size() != 2) return nullptr;
  return [&acts] {
    const std::int64_t begin = machine_time();
    acts[0](), acts[1]();
    return machine_time() - begin;
  };
}

Multiply Cuda::multiplying(std::shared_ptr<MadeBy> by) const {
  return products ? products->by(device->hands, products_by(*device), std::move(by)) : products_by(*device);
}

Reply Cuda::run(const Request& request, Arena& arena) {
  received = 0;
  load_operands(ready, all(), request.write);
  const double seconds = carry_out(ready);
  Outcome o = given(request.in_place ? nullptr : &arena);
  o.run_seconds = {seconds};
  return o;
}

}  // namespace plumb::cuda
