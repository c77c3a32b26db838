#include "adapters/cuda/cuda.h"

#include <stdexcept>

#include "adapters/cuda/products.h"
#include "adapters/cuda/rounds.h"
#include "adapters/protocol/json.h"
#include "adapters/rank/capabilities.h"
#include "adapters/rank/hand_over.h"
#include "adapters/rank/staged.h"

namespace plumb::cuda {
namespace {

constexpr std::int64_t kMostDevices = 65536;
constexpr double kMostSends = 2e7;  // 4 GB of tables
constexpr double kMostBytes = 16e9;

}  // namespace

// What lies in a card's memory has to be brought here: neither proved in place nor timed.
nlohmann::json Cuda::hello(const Mesh&) {
  const bool here = device == &this_processor();
  nlohmann::json all = {
      {"name",         "cuda"                                                                                  },
      {"versions",     {{"plumbline", PLUMB_VERSION}}                                                          },
      {"devices",      {{"count", kMostDevices}, {"kind", "virtual, on " + (device ? device->name : "no GPU")}}},
      {"fills",        here                                                                                    },
      {"times",        here                                                                                    },
      {"capabilities", what_ranks_can()                                                                        }
  };
  all["capabilities"]["max_devices"] = kMostDevices;
  return all;
}

Holder Cuda::all() const {
  return {
      &plan.mesh, plan.rule, {0, devices(plan.mesh)},
        &device->hands
  };
}

std::optional<Unsupported> Cuda::prepare(const Request& request) {
  if (!device) return Unsupported{why, "what the driver says"};
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
  ready = make_ready(c, plan, {all(), by_device(*device, order, received), {}, {}, products_by(*device)});
  return {};
}

Outcome Cuda::given(Arena* arena) const {
  Outcome o = hand_over(all(), ready, arena);
  *o.received += received;
  return o;
}

std::optional<Stages> Cuda::stages(const Request& request) {
  Stages s = staged(plan, ready, all(), request.write);
  s.once = [this, once = s.once] { received = 0, once(); };
  s.give = [this] { return given(nullptr); };
  return s;
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
