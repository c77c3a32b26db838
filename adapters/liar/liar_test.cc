#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "adapters/liar/faults.h"
#include "adapters/local/testing/trial.h"
#include "adapters/protocol/json.h"
#include "reference/words/text.h"

namespace plumb::liar {
namespace {

TEST(Faults, HaveNamesAndCases) {
  std::set<std::string_view> names;
  for (const Fault& fault : faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_EQ(fault_named(fault.name), &fault);
    EXPECT_FALSE(fault.says.empty()) << fault.name;
    EXPECT_FALSE(fault.cases.empty()) << fault.name;
    EXPECT_TRUE(fault.seams.plan || fault.seams.block || fault.seams.reply) << fault.name;
    for (std::string_view line : fault.cases) EXPECT_EQ(print(parse_case(line)), line) << fault.name;
  }
  EXPECT_EQ(fault_named("honest"), nullptr);
}

TEST(Faults, ReachEveryStatusThatABackendCanCause) {
  std::set<std::string_view> statuses;
  for (const Fault& fault : faults()) statuses.insert(fault.status);
  EXPECT_EQ(statuses, (std::set<std::string_view>{"unsupported", "hung", "crashed", "malformed", "reneged",
                                                  "misplaced", "leaked", "wrong", "diverged", "unstable",
                                                  "mistrusted", "wasteful"}));
}

TEST(Faults, AreListedAsJsonLines) {
  std::istringstream lines(list_faults());
  std::size_t n = 0;
  for (std::string line; std::getline(lines, line); ++n)
    EXPECT_EQ(parse_json(line)["name"], faults()[n].name);
  EXPECT_EQ(n, faults().size());
}

// What the harness could see of a reply.
std::string seen(const local::trial::Trial& t) {
  if (!std::holds_alternative<Outcome>(t.reply)) return "no outcome";
  const Outcome& o = t.outcome();
  std::ostringstream text;
  for (const std::optional<std::string>& claim : o.claims) text << claim.value_or("nothing") << "\n";
  for (const Block& b : o.blocks) {
    text << b.device << "@" << b.offset << "+" << b.bytes << " ";
    for (const auto& ranges : b.claim.value_or(std::vector<std::vector<Range>>{}))
      text << ranges[0].begin << ":" << ranges[0].end << " ";
    for (std::uint64_t i = 0; i < b.bytes && b.offset < t.arena.size(); ++i)
      text << static_cast<int>(t.arena[b.offset + i]) << ",";
  }
  for (const Collective& c : o.trace)
    text << "\n"
         << c.kind << c.in << "," << c.out << "," << c.moved.value_or(-1) << (c.axes.empty() ? "" : c.axes[0])
         << c.op << c.dtype;
  text << "\n" << o.received.value_or(-1);
  return text.str();
}

// Those that take the process with them, or spoil what was lent, are seen by the harness alone.
bool fatal(std::string_view name) {
  const std::set<std::string_view> all{"hangs", "aborts", "exits", "babbles", "truncates", "scribbles"};
  return all.contains(name);
}

std::string run(const Fault& fault, Seams seams) {
  local::Local local;
  local.seams = std::move(seams);
  std::string last;
  for (std::string_view line : fault.cases) {
    last = seen(local::trial::run(parse_case(line), local));
    if (fault.flags.starts_with("--reruns")) last += seen(local::trial::run(parse_case(line), local));
  }
  return last;
}

// Trial data are small integers whatever the seed: what keeps eight bits of them keeps them all.
bool beyond_trial_data(std::string_view name) {
  // Codes of small integers are the integers, whatever the scale.
  const std::set<std::string_view> all{"stale-block",
                                       "keeps-operands",
                                       "keeps-answers",
                                       "narrow-accumulator",
                                       "narrow-wire",
                                       "truncates-moves",
                                       "scales-operand-locally",
                                       "clips-operand",
                                       "rounds-scales-down",
                                       "multiplies-unquantized",
                                       "restarts-blocks",
                                       "transposes-blocks",
                                       "shares-scales",
                                       "scales-locally",
                                       "forgets-one-axis",
                                       "negates-moved-zeros",
                                       "inverts-otherwise",
                                       "divides-by-scale",
                                       "narrow-sums",
                                       "tf32-products",
                                       "tf32-dots",
                                       "tf32-parts",
                                       "truncates-sums",
                                       "answers-no-question",
                                       "reneges-questions",
                                       "hangs-on-questions",
                                       "bf16-products",
                                       "saturates",
                                       "rounds-ties-away"};
  return all.contains(name);
}

TEST(Faults, EachShowsInItsCase) {
  for (const Fault& fault : faults())
    if (!fatal(fault.name) && !beyond_trial_data(fault.name)) {
      EXPECT_NE(run(fault, fault.seams), run(fault, {})) << fault.name;
    }
}

// A fault on a case that it was not made for ends in an answer, and leaves nothing behind for an honest run.
TEST(Faults, LeaveNothingBehindOnOtherCases) {
  for (const char* line : {"on x=1: reshard f32[] -> f32[]", "on x=2,y=2: reshard f32[0,3@x] -> f32[0@y,3]",
                           "on x=3,y=2: reshard s8[7,5@x]+y -> s8[7@y.x,5]",
                           "on x=2,y=2: einsum k,k-> f32[7@x] f32[7@y] -> f32[]",
                           "on x=2,y=2: grouped dgrad f32[6@x,2] f32[3,3,2@y] sizes=1,3,1 -> f32[6,3@y]"}) {
    const Case c = parse_case(line);
    const auto honest = [&] {
      local::Local local;
      return seen(local::trial::run(c, local));
    };
    const std::string before = honest();
    for (const Fault& fault : faults()) {
      if (fatal(fault.name)) continue;
      local::Local local;
      local.seams = fault.seams;
      local::trial::run(c, local);
      EXPECT_EQ(honest(), before) << fault.name << " on " << line;
    }
  }
}

}  // namespace
}  // namespace plumb::liar
