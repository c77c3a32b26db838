#include "harness/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

namespace plumb {
namespace {

using testing::ElementsAre;

const std::string a = "on x=2: reshard f32[8@x] -> f32[8]", b = "on x=2: reshard f32[8]+x -> f32[8]",
                  c = "on x=4: reshard f32[8]+x -> f32[8]";

Record record(const std::string& line, Status status, const std::string& backend = "jax@0.9.1") {
  Record r;
  r.line = line, r.backend = backend;
  if (status != Status::pass) r.verdict.facts = {fact(status, "why")};
  decide(r.verdict);
  return r;
}

Records records(std::vector<Record> list) { return {std::move(list), {}}; }

Selected all_of_them(const Record&) { return Selected::yes; }

Compared compared(const Records& from, const Records& to,
                  std::function<Selected(const Record&)> selected = all_of_them) {
  return compare_runs({from, to, false, std::move(selected)});
}

std::vector<Change> changes_of(const Compared& all) {
  std::vector<Change> list;
  for (const Transition& pair : all.pairs) list.push_back(pair.change);
  return list;
}

TEST(Compare, EveryCaseOfEitherIsInOnePair) {
  const Records from = records({record(a, Status::pass), record(b, Status::wrong)}),
                to = records({record(c, Status::pass), record(a, Status::wrong)});
  const Compared all = compared(from, to);
  EXPECT_THAT(changes_of(all), ElementsAre(Change::fresh, Change::regression, Change::vanished));
  EXPECT_EQ(all.table.size(), 1u);
  EXPECT_EQ((all.table.at({Status::pass, Status::wrong})), 1);
}

TEST(Compare, TheLastRecordOfACaseCounts) {
  const Records from = records({record(a, Status::wrong), record(a, Status::pass)}),
                to = records({record(a, Status::pass)});
  EXPECT_THAT(changes_of(compared(from, to)), ElementsAre(Change::same));
}

TEST(Compare, WhatIsAbsentIsVanishedOnlyWhereTheNewRunSelectedIt) {
  const Records from = records({record(a, Status::pass)}), to = records({record(b, Status::pass)});
  for (const auto& [said, change] : {
           std::pair{Selected::yes,         Change::vanished  },
           std::pair{Selected::no,          Change::uncompared},
           std::pair{Selected::unrun,       Change::uncompared},
           std::pair{Selected::nobody_says, Change::uncompared}
  }) {
    const Compared all = compared(from, to, [said](const Record&) { return said; });
    EXPECT_EQ(all.pairs.back().change, change);
    EXPECT_EQ(all.pairs.back().why.empty(), change == Change::vanished);
  }
}

TEST(Compare, WhatIsUnrunSaysWhen) {
  for (const auto& [from, to, why] : {
           std::tuple{Status::pass,  Status::unrun, "unrun now"         },
           std::tuple{Status::unrun, Status::wrong, "unrun then"        },
           std::tuple{Status::unrun, Status::unrun, "unrun then and now"}
  })
    EXPECT_EQ(compared(records({record(a, from)}), records({record(a, to)})).pairs.back().why, why);
}

TEST(Compare, ReleasesOfAFrameworkAreJoinedWhereAsked) {
  const Records from = records({record(a, Status::pass, "jax@0.9.1,style=explicit")}),
                to = records({record(a, Status::wrong, "jax@0.10.2,style=explicit")});
  EXPECT_EQ(count(compared(from, to), Change::regression), 0);
  const Compared joined = compare_runs({from, to, true, all_of_them});
  EXPECT_THAT(changes_of(joined), ElementsAre(Change::regression));
  const Records other = records({record(a, Status::wrong, "jax@0.10.2,style=manual")});
  EXPECT_EQ(count(compare_runs({from, other, true, all_of_them}), Change::regression), 0) << "other options";
}

TEST(Compare, BytesAreExact) {
  Record less = record(a, Status::pass), more = less, unknown = less;
  less.cost.moved = 96, more.cost.moved = 97;
  EXPECT_THAT(changes_of(compared(records({less}), records({more}))), ElementsAre(Change::costlier));
  EXPECT_THAT(changes_of(compared(records({more}), records({less}))), ElementsAre(Change::cheaper));
  EXPECT_THAT(changes_of(compared(records({more}), records({more}))), ElementsAre(Change::same));
  EXPECT_THAT(changes_of(compared(records({more}), records({unknown}))), ElementsAre(Change::same));
}

// Of all that passes may leave unjudged: the weakest in which two differ says which of them rests on less.
TEST(Compare, APassThatRestsOnLessHasLostCoverage) {
  const std::pair<bool Verdict::*, const char*> leaves[] = {
      {&Verdict::plan,     "pass (plan)"    },
      {&Verdict::clones,   "pass (clones)"  },
      {&Verdict::untraced, "pass (no trace)"},
      {&Verdict::in_place, "pass (in place)"}
  };
  for (unsigned was = 0; was < 16; ++was)
    for (unsigned is = 0; is < 16; ++is) {
      Record from = record(a, Status::pass), to = from;
      from.cost.moved = 96, to.cost.moved = 97;
      for (unsigned n = 0; n < 4; ++n) {
        from.verdict.*leaves[n].first = was >> n & 1;
        to.verdict.*leaves[n].first = is >> n & 1;
      }
      const Records then = records({from}), now = records({to});
      const Compared all = compared(then, now);
      const unsigned differ = was ^ is, weakest = differ & -differ;
      const Change change = !differ ? Change::costlier : is & weakest ? Change::lost : Change::gained;
      ASSERT_THAT(changes_of(all), ElementsAre(change)) << was << " " << is;
      const std::string why = differ ? leaves[std::countr_zero(weakest)].second : "";
      ASSERT_EQ(by_kind(all, change).at(0).kind.why, why) << was << " " << is;
    }
  Record exact = record(a, Status::pass), within = exact;
  within.verdict.rounded = 3, within.verdict.alone = true;
  EXPECT_THAT(changes_of(compared(records({exact}), records({within}))), ElementsAre(Change::same));
}

TEST(Compare, VersionsThatDifferStandBesideIt) {
  Record before = record(a, Status::pass), now = before;
  before.versions =
      {
          {"jax",    "0.9.1"},
          {"python", "3.11" }
  },
  now.versions = {{"jax", "0.10.2"}, {"python", "3.11"}};
  EXPECT_THAT(compared(records({before}), records({now})).versions,
              ElementsAre("jax@0.9.1: jax 0.9.1 -> 0.10.2"));
}

TEST(Compare, MachinesThatDifferStandBesideIt) {
  Record before = record(a, Status::pass), now = before;
  before.environment =
      {
          {"cpu",   "A"},
          {"cores", 4  }
  },
  now.environment = {{"cpu", "A"}, {"cores", 2}};
  EXPECT_THAT(compared(records({before}), records({now})).environment, ElementsAre("cores 4, now 2"));
  EXPECT_TRUE(compared(records({now}), records({now})).environment.empty());
}

TEST(Compare, TimesAreComparedByTheirDistributions) {
  const auto timed = [](double slower) {
    std::vector<Record> list;
    for (int i = 0; i < 8; ++i) {
      Record r = record(a, Status::pass);
      r.bench.emplace();
      r.bench->number = r.bench->launch = i + 1, r.bench->of = 8;
      r.bench->samples.nanoseconds = {slower * (1000 + i)}, r.bench->samples.slowest = {0};
      list.push_back(std::move(r));
    }
    return records(std::move(list));
  };
  const Records before = timed(1), same = timed(1.001), slower = timed(1.12);
  ASSERT_EQ(compared(before, same).paced.size(), 1u);
  EXPECT_EQ(compared(before, same).paced[0].became, Became::same);
  EXPECT_EQ(compared(before, slower).paced[0].became, Became::slower);
  EXPECT_EQ(compared(slower, before).paced[0].became, Became::faster);
}

TEST(Compare, WhatIsLostSaysWhyItIsUnsupportedNow) {
  Record now = record(a, Status::unsupported);
  now.verdict.facts = {fact(Status::unsupported, "no sums over 3 axes")};
  const Records right = records({record(a, Status::pass)}), wrong = records({record(a, Status::wrong)}),
                without = records({now});
  const Compared lost = compared(right, without), hidden = compared(wrong, without);
  const auto kinds = by_kind(lost, Change::lost);
  ASSERT_EQ(kinds.size(), 1u);
  EXPECT_EQ(kinds[0].kind.why, "no sums over N axes");
  EXPECT_EQ(kinds[0].kind.status, Status::unsupported);
  EXPECT_EQ(by_kind(hidden, Change::hidden).at(0).kind.status, Status::wrong);
}

TEST(Compare, TellsChangesByKindTheMostFrequentFirst) {
  const Records from = records({record(a, Status::pass), record(b, Status::pass), record(c, Status::pass)}),
                to = records({record(a, Status::wrong), record(b, Status::wrong), record(c, Status::wrong)});
  const Compared all = compared(from, to);
  const auto kinds = by_kind(all, Change::regression);
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].kind.layouts, "reshard []+A -> []");
  EXPECT_EQ(kinds[0].pairs.size(), 2u);
  EXPECT_EQ(kinds[1].pairs.size(), 1u);
  EXPECT_TRUE(by_kind(all, Change::fixed).empty());
}

}  // namespace
}  // namespace plumb
