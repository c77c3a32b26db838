// The law of plans: none of a product that computes the case is condemned, however it goes about it.
//
//     draw-plans N SEED
//
// Prints each condemned, and counts. Exit code: 0 none was, 1 some.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "harness/judge/plan.h"
#include "harness/judge/testing/draw_plan.h"

namespace plumb {
namespace {

int draw_plans(std::int64_t n, std::uint64_t seed) {
  Random random{std::mt19937_64(seed)};
  random.axes = 3, random.longest_axis = 4, random.letters = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24};
  std::map<std::string, std::int64_t> counts;
  std::int64_t steps = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const DrawnPlan p = draw_plan(random);
    Outcome o;
    o.plan = p.plan, o.trace = p.trace, steps += std::ssize(p.trace);
    const std::vector<Fact> facts = plan_facts(p.c, o);
    ++counts[facts.empty() ? "pass" : std::string(name(facts[0].status))];
    if (facts.empty()) continue;
    fmt::print("{}\n  {}\n  meets as {}, lies as {}\n", print(p.c), facts[0].text,
               fmt::join(p.plan.operands, ", "), p.plan.result);
    for (const Collective& one : p.trace) fmt::print("{}", a_line_of(one));
  }
  for (const auto& [what, count] : counts) fmt::print("{:>8} {}\n", count, what);
  fmt::print("{:>8} collectives, of {} plans drawn with seed {}\n", steps, n, seed);
  return counts["pass"] == n ? 0 : 1;
}

}  // namespace
}  // namespace plumb

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "draw-plans: expected N SEED\n");
    return 2;
  }
  return plumb::draw_plans(std::strtoll(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
}
