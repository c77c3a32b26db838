#include "adapters/local/local.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "adapters/protocol/json.h"
#include "reference/words/text.h"

namespace plumb::local {
namespace {

constexpr std::int64_t kMostDevices = 65536;
constexpr double kMostSends = 2e8;  // 2.4 GB of plan
constexpr double kMostBytes = 16e9;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What the ranks hold of a layout, were every block as large as the largest.
double held_bytes(const Case& c, const Spec& spec) {
  return static_cast<double>(devices(c.mesh)) *
         static_cast<double>(largest_block_bytes(c.mesh, spec, c.rule));
}

double most_held_bytes(const Case& c) {
  double most = 0;
  for (const std::vector<Spec>& specs : {c.op.operands, c.op.chain})
    for (const Spec& spec : specs) most = std::max(most, held_bytes(c, spec));
  return most;
}

std::vector<Block> hand_over(const Blocks& result, std::int64_t index, Arena& arena) {
  std::vector<Block> blocks;
  for (std::int64_t device = 0; device < result.devices(); ++device) {
    const std::int64_t bytes = result.elements(device) * format(result.stored).bytes;
    const std::span<std::byte> place = arena.take(bytes);
    if (bytes > 0) std::memcpy(place.data(), result.block(device), bytes);
    std::vector<std::vector<Range>> claim;
    for (const Range& range : result.slice(device)) claim.push_back({range});
    blocks.push_back(
        {device, index, arena.offset(place), static_cast<std::uint64_t>(bytes), std::move(claim)});
  }
  return blocks;
}

Outcome hand_over(const Case& c, const Done& done, Arena& arena) {
  Outcome o;
  for (const Blocks& result : done.results) {
    std::ranges::move(hand_over(result, std::ssize(o.claims), arena), std::back_inserter(o.blocks));
    o.claims.push_back(print(c.mesh, result.spec));
  }
  o.trace = done.trace;
  o.received = done.received;
  return o;
}

bool unfinished(const Spec& spec, AxisId axis) {
  return std::ranges::find(spec.unfinished, axis) != spec.unfinished.end();
}

// Where a product was computed and what became of it, in place of its data.
void say_plan(const Case& c, const Plan& p, Outcome& o) {
  o.blocks.clear();
  o.received.reset();
  if (!p.product) return;
  o.plan.operands = {print(c.mesh, p.product->lhs_spec), print(c.mesh, p.product->rhs_spec)};
  Spec summed = p.product->out_spec;
  std::erase_if(summed.unfinished, [&](AxisId axis) { return !unfinished(result(c), axis); });
  o.plan.result = print(c.mesh, summed);
}

Reply compute(const Local& local, const Request& request, Arena& arena) {
  const Case& c = request.c;
  const std::string limit = "the memory of one machine";
  if (most_held_bytes(c) > kMostBytes)
    return Unsupported{
        "blocks of " + std::to_string(static_cast<std::int64_t>(most_held_bytes(c))) + " bytes", limit};
  const auto start = std::chrono::steady_clock::now();
  Plan p;
  try {
    p = plan(c, local.style, kMostSends);
  } catch (const std::length_error& e) {
    return Unsupported{e.what(), limit};
  }
  if (local.seams.plan) local.seams.plan(p);
  const double planned = seconds_since(start);
  const auto run = std::chrono::steady_clock::now();
  const Done done = is_quantize(c) ? quantize(p, c.op.chain, request.operands, local.seams)
                                   : execute(p, request.operands, local.seams);
  const double ran = seconds_since(run);
  Outcome o = hand_over(c, done, arena);
  if (local.plans_only) say_plan(c, p, o);
  o.compile_seconds = planned;
  o.run_seconds = {ran};
  return o;
}

}  // namespace

nlohmann::json Local::hello(const Mesh&) {
  nlohmann::json dtypes = nlohmann::json::array(), sums = dtypes;
  for (const Format& f : formats()) {
    dtypes.push_back(f.name);
    if (f.dtype != DType::e8m0) sums.push_back(f.name);
  }
  nlohmann::json all = {
      {"name",         "local"                                       },
      {"versions",     {{"plumbline", PLUMB_VERSION}}                },
      {"devices",      {{"count", kMostDevices}, {"kind", "virtual"}}},
      {"capabilities",
       {{"ops", {"reshard", "einsum", "grouped", "quantize"}},
        {"schemes", {"fp8", "fp8e5", "mxfp8", "mxfp8e5"}},
        {"dtypes", dtypes},
        {"max_devices", kMostDevices},
        {"max_rank", 32},
        {"rules", {"flat", "nested"}},
        {"reductions", {"sum", "avg", "max", "min"}},
        {"submesh", true},
        {"acc", sums},
        {"wire", sums},
        {"tail", "zero"}}                                            }
  };
  if (plans_only)
    all["capabilities"].update({
        {"data",    "none"                 },
        {"ops",     {"reshard", "einsum"}  },
        {"schemes", nlohmann::json::array()}
    });
  return all;
}

Reply Local::run(const Request& request, Arena& arena) {
  Reply reply = compute(*this, request, arena);
  return seams.reply ? seams.reply(std::move(reply), request, arena) : reply;
}

}  // namespace plumb::local
