// The drawn law: no line of the grammar is condemned on the embedded backend, in any plan, nor mistrusted:
// data are such that a fault shows. Nor is one of the plans in turn, of a reshard or an einsum, where it is
// all that is said.
//
//     draw-honest N SEED [WIDE]
//
// One line in WIDE, 8 unless said otherwise, is of many devices, of groups of any sizes or of narrow floats.
// Prints each line condemned, and counts. Exit code: 0 none was, 1 some, or too many are not supported.
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "harness/run/attempt.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

bool condemned(const Verdict& verdict) {
  return verdict.status != Status::pass && verdict.status != Status::unsupported;
}

std::string outcome(const Verdict& verdict) {
  return verdict.status == Status::pass ? fmt::format("pass ({})", name(pass_of(verdict)))
                                        : std::string(name(verdict.status));
}

// Whether `data=none` answers it.
bool plans(const Op& op) {
  const bool product = std::holds_alternative<Einsum>(op.kind) && !quantizes(op);
  return product || std::holds_alternative<Reshard>(op.kind);
}

int draw_honest(std::int64_t lines, std::uint64_t seed, std::int64_t wide) {
  std::vector<Subject> carried_out, planned;
  for (const std::string backend : {"local", "local,plan=ring", "local,plan=calls"}) {
    carried_out.emplace_back(backend, Settings{});
    planned.emplace_back(backend + ",data=none", Settings{});
  }
  Random random{std::mt19937_64(seed)};
  std::map<std::string, std::int64_t> counts;
  std::int64_t wrongly = 0, unsupported = 0;
  const auto judge_on = [&](const Case& c, Subject& subject) {
    const Verdict verdict = attempt(c, subject).verdict;
    unsupported += verdict.status == Status::unsupported;
    if (!condemned(verdict)) {
      ++counts[outcome(verdict)];
      return;
    }
    ++wrongly;
    fmt::print("{}  {}  {}\n    {}\n", name(verdict.status), subject.name, print(c),
               verdict.facts.front().text);
  };
  for (std::int64_t i = 0; i < lines; ++i) {
    const Case c = random.one_in(wide) ? draw_wide(random) : draw_to_run(random);
    for (Subject& subject : carried_out) judge_on(c, subject);
    if (plans(c.op)) judge_on(c, planned[i % std::ssize(planned)]);
  }
  for (const auto& [what, count] : counts) fmt::print("{:>8} {}\n", count, what);
  fmt::print("{:>8} condemned, of {} lines drawn with seed {}\n", wrongly, lines, seed);
  const bool too_many = unsupported * 100 > lines;
  if (too_many) fmt::print("{} are not supported: the law says nothing of them\n", unsupported);
  return wrongly == 0 && !too_many ? 0 : 1;
}

}  // namespace
}  // namespace plumb

int main(int argc, char** argv) {
  const std::int64_t wide = argc > 3 ? std::strtoll(argv[3], nullptr, 10) : 8;
  if (argc < 3 || argc > 4 || wide < 1) {
    fmt::print(stderr, "draw-honest: expected N SEED [WIDE]\n");
    return 2;
  }
  return plumb::draw_honest(std::strtoll(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10), wide);
}
