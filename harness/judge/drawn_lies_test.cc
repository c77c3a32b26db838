// The law of lies: a plan of which one step was changed is believed only where it could have given the value,
// and is not condemned where to the letter it gives it, as an oracle finds that knows nothing of
// harness/trace.
//
//     draw-lies N SEED
//
// Prints each of which they differ, and counts; undecided is what the oracle did not find out, of what it
// does not ask or with so much as it may try. Exit code: 0 they differ of none, 1 of some.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "harness/judge/plan.h"
#include "harness/judge/testing/could_give.h"
#include "harness/judge/testing/draw_plan.h"

namespace plumb {
namespace {

using oracle::Answer;

const char* const kLies[] = {"nothing",      "drops a step",        "halves the bytes", "doubles a step",
                             "another axis", "exchanges two steps", "another kind"};

bool is_over_axes(const Collective& one) { return one.pairs.empty(); }

// Changes one step; false where there is none to change so.
bool lie(Random& random, const Mesh& mesh, std::size_t how, Trace& trace) {
  if (how == 0) return true;
  if (trace.empty()) return false;
  const auto i = static_cast<std::ptrdiff_t>(random.below(std::ssize(trace)));
  Collective& one = trace[i];
  switch (how) {
    case 1:
      return trace.erase(trace.begin() + i), true;
    case 2:
      one.in /= 2, one.out /= 2;
      return true;
    case 3:
      return trace.insert(trace.begin() + i, Collective(one)), true;
    case 4:
      if (!is_over_axes(one)) return false;
      one.axes = {random.of(mesh.axes).name};
      return true;
    case 5:
      if (i == 0) return false;
      std::swap(trace[i], trace[i - 1]);
      return true;
    default:
      if (!is_over_axes(one)) return false;
      one.kind =
          random.of(std::vector<std::string>{"all-gather", "all-reduce", "reduce-scatter", "all-to-all"});
      return true;
  }
}

// How often the judge and the oracle said what of a lie.
struct Count {
  std::map<Answer, std::int64_t> believed, condemned, doubted;
};

int draw_lies(std::int64_t n, std::uint64_t seed) {
  Random random{std::mt19937_64(seed)};
  random.axes = 2, random.longest_axis = 3, random.letters = {1, 2, 2, 3, 4};
  std::map<std::size_t, Count> counts;
  std::int64_t believed = 0, condemned = 0, undecided = 0, asked = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    DrawnPlan p = draw_plan(random);
    const auto how = static_cast<std::size_t>(random.below(std::ssize(kLies)));
    const Trace honest = p.trace;
    if (devices(p.c.mesh) > 6 || !lie(random, p.c.mesh, how, p.trace)) continue;
    Outcome o;
    o.plan = p.plan, o.trace = p.trace;
    const std::vector<Fact> facts = plan_facts(p.c, o);
    const Answer answer = oracle::could_give(p.c, p.plan, p.trace, false);
    Count& count = counts[how];
    ++(facts.empty()                      ? count.believed
       : facts[0].status == Status::wrong ? count.condemned
                                          : count.doubted)[answer];
    const bool believes_a_lie = facts.empty() && answer == Answer::cannot;
    const Answer by_each = !facts.empty() && answer == Answer::can
                               ? oracle::gives_by_each(p.c, p.plan, p.trace)
                               : Answer::cannot;
    const bool condemns = by_each == Answer::can;
    undecided += answer == Answer::unknown || by_each == Answer::unknown, ++asked;
    if (!believes_a_lie && !condemns) continue;
    ++(condemns ? condemned : believed);
    fmt::print("{}, {}: {}\n  meets as {}, lies as {}; {} steps before\n",
               condemns ? facts[0].text : "believed", kLies[how], print(p.c),
               fmt::join(p.plan.operands, ", "), p.plan.result, honest.size());
    for (const Collective& one : p.trace) fmt::print("{}", a_line_of(one));
    std::fflush(stdout);
  }
  fmt::print("{:24} {:>24} {:>24} {:>24}\n", "can / cannot / undecided", "believed", "condemned", "doubted");
  for (auto& [how, count] : counts) {
    fmt::print("{:24}", kLies[how]);
    for (auto* said : {&count.believed, &count.condemned, &count.doubted})
      fmt::print(" {:>24}", fmt::format("{} / {} / {}", (*said)[Answer::can], (*said)[Answer::cannot],
                                        (*said)[Answer::unknown]));
    fmt::print("\n");
  }
  fmt::print(
      "{} believed cannot be, {} condemned are to the letter, {} undecided, of {} of {} plans drawn with "
      "seed {}\n",
      believed, condemned, undecided, asked, n, seed);
  return believed + condemned == 0 ? 0 : 1;
}

}  // namespace
}  // namespace plumb

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "draw-lies: expected N SEED\n");
    return 2;
  }
  return plumb::draw_lies(std::strtoll(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
}
