// The drawn law: no line of the grammar is condemned on the embedded backend, in any plan, nor mistrusted:
// data are such that a fault shows. Nor is one of the plans in turn, of a reshard or an einsum, where it is
// all that is said. Nor on the backends that are named, in their place: as blocks travel, and proved in
// place.
//
//     draw-honest N SEED [WIDE [BACKEND...]]
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

// A law over drawn lines: who is asked, and how often each outcome came.
struct Law {
  std::vector<Subject> carried_out, planned;
  std::map<std::string, std::int64_t> counts;
  std::int64_t wrongly = 0, unsupported = 0;
};

Law law_of(const std::vector<std::string>& backends) {
  Law law;
  Settings in_place;
  in_place.in_place = true;
  for (const std::string& backend : backends) {
    law.carried_out.emplace_back(backend, Settings{});
    law.carried_out.emplace_back(backend, in_place);
  }
  if (!backends.empty()) return law;
  for (const std::string backend : {"local", "local,plan=ring", "local,plan=calls"}) {
    law.carried_out.emplace_back(backend, Settings{});
    law.planned.emplace_back(backend + ",data=none", Settings{});
  }
  return law;
}

void judge_on(Law& law, const Case& c, Subject& subject) {
  const Verdict verdict = attempt(c, subject).verdict;
  law.unsupported += verdict.status == Status::unsupported;
  if (!condemned(verdict)) {
    ++law.counts[outcome(verdict)];
    return;
  }
  ++law.wrongly;
  fmt::print("{}  {}  {}\n    {}\n", name(verdict.status), subject.name, print(c),
             verdict.facts.front().text);
}

struct Drawing {
  std::int64_t lines = 0;
  std::uint64_t seed = 0;
  std::int64_t wide = 8;
};

int draw_honest(const Drawing& drawing, Law law) {
  Random random{std::mt19937_64(drawing.seed)};
  for (std::int64_t i = 0; i < drawing.lines; ++i) {
    const Case c = random.one_in(drawing.wide) ? draw_wide(random) : draw_to_run(random);
    for (Subject& subject : law.carried_out) judge_on(law, c, subject);
    if (!law.planned.empty() && plans(c.op)) judge_on(law, c, law.planned[i % std::ssize(law.planned)]);
  }
  for (const auto& [what, count] : law.counts) fmt::print("{:>8} {}\n", count, what);
  fmt::print("{:>8} condemned, of {} lines drawn with seed {}\n", law.wrongly, drawing.lines, drawing.seed);
  const bool too_many = law.unsupported * 100 > drawing.lines;
  if (too_many) fmt::print("{} are not supported: the law says nothing of them\n", law.unsupported);
  return law.wrongly == 0 && !too_many ? 0 : 1;
}

}  // namespace
}  // namespace plumb

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  plumb::Drawing drawing;
  if (words.size() > 0) drawing.lines = std::strtoll(argv[1], nullptr, 10);
  if (words.size() > 1) drawing.seed = std::strtoull(argv[2], nullptr, 10);
  if (words.size() > 2) drawing.wide = std::strtoll(argv[3], nullptr, 10);
  if (words.size() < 2 || drawing.wide < 1) {
    fmt::print(stderr, "draw-honest: expected N SEED [WIDE [BACKEND...]]\n");
    return 2;
  }
  const auto backends = words.size() > 3 ? words.begin() + 3 : words.end();
  return plumb::draw_honest(drawing, plumb::law_of({backends, words.end()}));
}
