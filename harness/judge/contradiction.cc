#include "harness/judge/contradiction.h"

#include <fmt/format.h>

#include "harness/trace/at_once.h"
#include "harness/trace/lower_bound.h"
#include "harness/trace/reachability.h"
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

std::optional<Fact> contradiction(const Case& c, const Outcome& outcome, const Verdict& verdict) {
  std::string why = out_of_reach(c, outcome);
  const std::vector<Slice> slices = held_slices(c, outcome, 0);
  if (why.empty()) why = received_too_little(c, fewest_received(c, slices), outcome.trace);
  if (why.empty()) why = brought_too_little(c, slices, outcome.trace);
  if (why.empty()) why = misfit(c.mesh, outcome.trace);
  if (why.empty()) why = untrue(c, outcome.trace, verdict.rounded == 0);
  if (why.empty()) return std::nullopt;
  return fact(Status::mistrusted, "the values are right, and the trace cannot have made them: " + why);
}

}  // namespace plumb
