#include "harness/judge/contradiction.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/trace/at_once.h"
#include "harness/trace/different.h"
#include "harness/trace/executed.h"
#include "harness/trace/learnt.h"
#include "harness/trace/lower_bound.h"
#include "harness/trace/multiplied.h"
#include "harness/trace/narrow.h"
#include "harness/trace/reachability.h"
#include "harness/trace/scaled.h"
#include "harness/trace/slices.h"
#include "harness/trace/traffic.h"
#include "harness/trace/untrue.h"

namespace plumb {

std::optional<Fact> short_fact(const Cost& cost) {
  if (cost.moved < 0 || cost.moved >= cost.bound) return std::nullopt;
  return fact(
      Status::mistrusted,
      fmt::format("the values are right, and the trace moved {} bytes where no program moves fewer than "
                  "{}: it leaves something out, or the check is blind",
                  cost.moved, cost.bound));
}

namespace {

constexpr std::int64_t most_executed = 64;  // devices

// Of a reshard whose sums are scattered: which piece a device was left with. Elsewhere every member has what
// any had, which out_of_reach() asks.
std::string never_made(const Case& c, const Trace& trace) {
  const auto scatters = [](const Collective& one) { return one.kind == "reduce-scatter"; };
  if (!is_reshard(c) || result(c).free || devices(c.mesh) > most_executed ||
      std::ranges::none_of(trace, scatters))
    return "";
  Execution e = execution(c, c.op.operands[0], result(c));
  e.keeps = true;
  return not_made(e, trace).value_or("");
}

}  // namespace

std::optional<Fact> contradiction(const Case& c, const Outcome& outcome, const Verdict& verdict) {
  Outcome told = outcome;
  told.trace = without_idle_moves(c, without_counters(c, outcome.trace));
  std::string why = out_of_reach(c, told);
  const std::vector<Slice> slices = held_slices(c, told, 0);
  if (why.empty()) why = received_too_little(c, fewest_received(c, slices), told.trace);
  if (why.empty()) why = brought_too_little(c, slices, told.trace);
  if (why.empty() && is_reshard(c)) why = brought_too_little(c, told.trace);
  if (why.empty()) why = never_met(c, told.trace);
  if (why.empty()) why = misfit(c.mesh, outcome.trace);
  if (why.empty()) why = untrue(c, outcome.trace, verdict.rounded == 0);
  if (why.empty()) why = learnt_too_little(c, told.trace);
  if (why.empty()) why = told_too_little(c, slices, told.trace);
  if (why.empty()) why = scaled_too_early(c, slices, told.trace);
  if (why.empty()) why = never_made(c, told.trace);
  if (why.empty()) return std::nullopt;
  return fact(Status::mistrusted, "the values are right, and the trace cannot have made them: " + why +
                                      idle_move(c, outcome.trace));
}

}  // namespace plumb
