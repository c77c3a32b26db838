#include "adapters/local/local.h"

#include <algorithm>
#include <stdexcept>

#include "adapters/protocol/json.h"
#include "adapters/rank/capabilities.h"
#include "adapters/rank/hand_over.h"
#include "adapters/rank/staged.h"
#include "reference/words/text.h"

namespace plumb::local {
namespace {

constexpr std::int64_t kMostDevices = 65536;
constexpr double kMostSends = 2e8;  // 2.4 GB of plan
constexpr double kMostBytes = 16e9;

// Where a product was computed and what became of it, in place of its data.
void say_plan(const Case& c, const Plan& p, Outcome& o) {
  o.blocks.clear();
  o.received.reset();
  if (!p.product) return;
  o.plan.operands = {print(c.mesh, p.product->lhs_spec), print(c.mesh, p.product->rhs_spec)};
  o.plan.result = print(c.mesh, c.op.chain.size() > 1 ? c.op.chain.front() : p.legs.back().to);
}

// The only way from one device's memory to another's.
Carry counted_moves(std::int64_t& received) {
  return [&received](const Link& link, const Leg&, const Round& round) -> Carried {
    return {[link, &round, &received] {
              received += move_within(link, round.sends) * format(link.combine.wire).bytes;
            },
            {}};
  };
}

Outcome carried_out(Local& local, const Request& request, Arena& arena) {
  const Holder all = holder_of_all(local.plan.mesh, local.plan.rule);
  local.received = 0;
  load_operands(local.ready, all, request.write);
  const double seconds = carry_out(local.ready);
  Outcome o = hand_over(all, local.ready, request.in_place ? nullptr : &arena);
  *o.received += local.received;
  if (local.plans_only) say_plan(request.c, local.plan, o);
  o.run_seconds = {seconds};
  return o;
}

}  // namespace

nlohmann::json Local::hello(const Mesh&) {
  nlohmann::json all = {
      {"name",         "local"                                       },
      {"versions",     {{"plumbline", PLUMB_VERSION}}                },
      {"devices",      {{"count", kMostDevices}, {"kind", "virtual"}}},
      {"fills",        !plans_only && !seams.reply                   },
      {"times",        !plans_only && !seams.reply                   },
      {"capabilities", what_ranks_can()                              }
  };
  all["capabilities"]["max_devices"] = kMostDevices;
  if (plans_only)
    all["capabilities"].update({
        {"data",    "none"                 },
        {"ops",     {"reshard", "einsum"}  },
        {"schemes", nlohmann::json::array()}
    });
  return all;
}

// All devices, as one process.
std::optional<Unsupported> Local::prepare(const Request& request) {
  const Case& c = request.c;
  const std::string limit = "the memory of one machine";
  if (most_held_bytes(c) > kMostBytes)
    return Unsupported{
        "blocks of " + std::to_string(static_cast<std::int64_t>(most_held_bytes(c))) + " bytes", limit};
  try {
    plan = plumb::plan(c, style, kMostSends);
  } catch (const std::length_error& e) {
    return Unsupported{e.what(), limit};
  }
  if (seams.plan) seams.plan(plan);
  std::function<void(Moment, Blocks&)> shown;  // which may remember what it was shown
  if (seams.block) shown = [this](Moment moment, Blocks& blocks) { seams.block(moment, blocks); };
  ready = make_ready(c, plan, {holder_of_all(plan.mesh, plan.rule), counted_moves(received), {}, shown});
  return {};
}

// One process, whose devices take turns: it shows what a plan costs, and no wire.
std::optional<Stages> Local::stages(const Request& request) {
  const Holder all = holder_of_all(plan.mesh, plan.rule);
  Stages s = staged(plan, ready, all, request.write);
  s.once = [this, once = s.once] { received = 0, once(); };
  s.give = [this, all] {
    Outcome o = hand_over(all, ready, nullptr);
    *o.received += received;
    return o;
  };
  return s;
}

Reply Local::run(const Request& request, Arena& arena) {
  Reply reply = carried_out(*this, request, arena);
  return seams.reply ? seams.reply(std::move(reply), request, arena) : reply;
}

}  // namespace plumb::local
