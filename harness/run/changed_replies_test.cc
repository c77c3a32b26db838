// Law: what is said of a result that is not what it should be stays what it is. golden/replies.txt has drawn
// lines; of each an honest reply is changed in many ways, and the digest is of all that the records say.
#include <gtest/gtest.h>

#include "harness/run/testing/backends.h"
#include "harness/run/testing/changes.h"
#include "harness/run/testing/said.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

constexpr int changed_replies = 16;

std::size_t count_before(const Verdict& verdict, Status status) {
  return std::ranges::count_if(verdict.facts, [&](const Fact& f) { return f.status < status; });
}

Limits draw_limits(Random& random) {
  const double all[] = {-1, 0, 0.5, 1, 1, 1.5, 2};
  return {.max_waste = random.of(all), .max_collectives = random.of(all)};
}

// An answer changed once or more, and its record.
std::string changed(Random& random, const Attempts& honest, const Declared& promised, const Record& plain) {
  Attempts made = honest;
  Declared declared = promised;
  const bool of_other = made.other && random.one_in(12),
             of_again = !of_other && made.other && random.one_in(12);
  Attempt& attempt = of_other ? *made.other : of_again ? made.again.front() : made.first;
  AnsweredCase reply(attempt);
  std::set<Touched> parts;
  for (std::int64_t n = random.one_in(3) ? 1 + random.below(3) : 1; n > 0; --n)
    parts.insert(draw_change(random, reply, declared));
  attempt = reply.attempt();
  const Limits limits = draw_limits(random);
  const Record record = examine(made, declared, limits);
  EXPECT_EQ(record.verdict.status == Status::pass, record.verdict.facts.empty());
  if (parts == std::set{Touched::trace} && !declared.data_none) {
    EXPECT_EQ(count_before(record.verdict, Status::mistrusted),
              count_before(plain.verdict, Status::mistrusted))
        << "what is said to have moved is no matter of values";
  }
  if (parts == std::set{Touched::values}) {
    EXPECT_EQ(record.cost.moved, plain.cost.moved);
    EXPECT_EQ(record.collectives.issued, plain.collectives.issued);
  }
  return said(record);
}

std::string said_of_changed(Backends& backends, const std::string& name) {
  const std::size_t space = name.find(' ');
  Process& process = backends.named(name.substr(0, space));
  const Case c = parse_case(name.substr(space + 1));
  const Attempts honest = ask(c, process, {1});
  if (!std::holds_alternative<Outcome>(honest.first.answer)) return "no outcome";
  Random random{std::mt19937_64(fnv(name))};
  std::string text;
  // Blocks that lie in the arena are read before the next is asked.
  const Record plain = examine(honest, declared(process), {});
  for (int i = 0; i < changed_replies; ++i)
    text += changed(random, honest, declared(process), plain) + "--\n";
  return text;
}

std::vector<std::string> drawn_replies() {
  std::vector<std::string> names;
  Random random{std::mt19937_64(5)};
  const char* const backends[] = {"local", "local,plan=ring", "local,data=none"};
  while (names.size() < 600) {
    const std::string backend = backends[names.size() % 3];
    const Case c = draw_to_run(random);
    if (names.size() % 4 && !is_regular(c)) continue;
    if (backend == "local,data=none" &&
        (is_quantize(c) || std::holds_alternative<Grouped>(c.op.kind) || quantizes(c.op)))
      continue;
    names.push_back(backend + " " + print(c));
  }
  return names;
}

TEST(Replies, OfWhatIsChangedIsSaidWhatWasSaid) {
  Backends backends;
  expect_pinned(PLUMB_GOLDEN "/replies.txt", drawn_replies,
                [&](const std::string& name) { return said_of_changed(backends, name); });
}

}  // namespace
}  // namespace plumb
