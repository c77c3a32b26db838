#include "harness/measure/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Links, EveryPairMeetsOnceAndNobodyTwiceInARound) {
  for (std::int64_t n = 2; n <= 17; ++n) {
    std::set<std::pair<std::int64_t, std::int64_t>> met;
    const auto rounds = tournament(n);
    EXPECT_THAT(rounds, SizeIs(n % 2 == 0 ? n - 1 : n));
    for (const auto& round : rounds) {
      std::set<std::int64_t> ranks;
      EXPECT_THAT(round, SizeIs(n / 2));
      for (const RankPair& link : round) {
        EXPECT_LT(link.a, link.b);
        EXPECT_GE(link.a, 0);
        EXPECT_LT(link.b, n);
        EXPECT_TRUE(ranks.insert(link.a).second && ranks.insert(link.b).second) << n;
        EXPECT_TRUE(met.insert({link.a, link.b}).second) << n;
      }
    }
    EXPECT_THAT(met, SizeIs(n * (n - 1) / 2));
  }
  EXPECT_THAT(tournament(1), IsEmpty());
}

TEST(Links, ASampleIsSomeOfTheRounds) {
  const auto all = tournament(8), some = tournament(8, 3);
  EXPECT_THAT(some, ElementsAre(all[0], all[3], all[6]));
}

TEST(Links, AreAskedForInWords) {
  EXPECT_EQ(link_in_words({
                {0, 1},
                {2, 3}
  }),
            "link 0-1 2-3");
  EXPECT_EQ(link_in_words({
                {10, 11}
  }),
            "link 10-11");
}

constexpr int passes = 12, of_a_pass = 4;

// All links of n ranks, some hundredths apart, and as many times as long as is said of them in a pass.
using Longer = std::function<double(const RankPair&, int pass)>;
std::vector<LinkTimes> links_of(std::int64_t n, const Longer& longer, int passes_of_each = passes) {
  std::vector<LinkTimes> all;
  for (const auto& round : tournament(n))
    for (const RankPair& link : round) {
      all.push_back({link, {}});
      for (int pass = 0; pass < passes_of_each; ++pass) {
        all.back().passes.emplace_back();
        for (int i = 0; i < of_a_pass; ++i)
          all.back().passes[pass].push_back(longer(link, pass) *
                                            (1000 + 10.0 * ((pass + i + static_cast<int>(link.a)) % 7)));
      }
    }
  return all;
}

constexpr Slow both[] = {Slow::median, Slow::quickest};

TEST(Links, FiguresAreOfAllPasses) {
  const auto all = links_of(4, [](auto&, int) { return 1; });
  const auto figures = link_figures(all, {all[1]});
  EXPECT_EQ(figures[1].link, all[1].link);
  EXPECT_EQ(figures[1].at_once, figures[1].alone);
  EXPECT_EQ(figures[0].at_once, 0) << "it was not tried";
}

TEST(Links, TheSlowOneIsNamedOfAsManyRanksAsCanSayIt) {
  for (Slow which : both)
    for (std::int64_t n = 2; n <= 9; ++n)
      for (const auto& round : tournament(n))
        for (const RankPair& one : round) {
          const auto all = links_of(n, [&](const RankPair& l, int) { return l == one ? 100 : 1; });
          const Slowed found = slow_links(all, which);
          EXPECT_EQ(found.sure, n < 4 ? std::vector<RankPair>{} : std::vector{one}) << n;
          EXPECT_THAT(found.unsure, IsEmpty()) << n;
          EXPECT_EQ(all.size() < fewest_links, n < 4) << n << ": too few to say";
          EXPECT_THAT(slow_ranks(all, which), IsEmpty()) << n;
        }
  for (Slow which : both) EXPECT_THAT(slow_links({}, which).sure, IsEmpty());
}

TEST(Links, NoneOfEqualOnesIsNamed) {
  for (Slow which : both)
    for (std::int64_t n = 2; n <= 9; ++n) {
      const auto all = links_of(n, [](auto&, int) { return 1; });
      EXPECT_THAT(slow_links(all, which).sure, IsEmpty()) << n;
      EXPECT_THAT(slow_ranks(all, which), IsEmpty()) << n;
    }
}

TEST(Links, ARankWhoseLinksAreAllSlowIsNamed) {
  for (Slow which : both)
    for (std::int64_t n = 4; n <= 9; ++n)
      for (std::int64_t rank = 0; rank < n; ++rank) {
        const auto all =
            links_of(n, [&](const RankPair& l, int) { return l.a == rank || l.b == rank ? 2 : 1; });
        EXPECT_THAT(slow_ranks(all, which), ElementsAre(rank)) << n;
        const RankPair quick = rank == 0 ? RankPair{0, 1} : RankPair{0, rank};
        const auto but_one = links_of(
            n, [&](const RankPair& l, int) { return (l.a == rank || l.b == rank) && !(l == quick) ? 2 : 1; });
        EXPECT_THAT(slow_ranks(but_one, which), IsEmpty())
            << n << ": one of its links is as quick as others'";
      }
}

// Ten of twelve coins or more show heads in 2 of 100 throws, nine in 7.
TEST(Links, WhatIsSlowInSomePassesIsNotNamedBeforeTheyAreEnough) {
  for (Slow which : both)
    for (int slow = 0; slow <= passes; ++slow) {
      const auto is_slow = [&](int pass) { return pass * 5 % passes < slow; };
      const auto link = links_of(4, [&](const RankPair& l, int p) {
        return l == RankPair{1, 2} && is_slow(p) ? 5 : 1;
      });
      const Slowed found = slow_links(link, which);
      EXPECT_EQ(found.sure.size(), slow >= 10 ? 1U : 0U) << slow;
      EXPECT_EQ(found.unsure.size(), slow > 2 && slow < 10 ? 1U : 0U) << slow;
      const auto rank = links_of(
          5, [&](const RankPair& l, int p) { return l.b == 3 || l.a == 3 ? is_slow(p) ? 5 : 1 : 1; });
      EXPECT_EQ(slow_ranks(rank, which).size(), slow >= 10 ? 1U : 0U) << slow;
    }
}

TEST(Links, OfFewPassesNobodyIsNamed) {
  for (Slow which : both) {
    const auto all = links_of(
        4,
        [](const RankPair& l, int) {
          return l == RankPair{1, 2} ? 100 : 1;
        },
        5);
    EXPECT_THAT(slow_links(all, which).sure, IsEmpty());
  }
}

// One iteration of each pass is as quick as others', the rest wait for a core: it may be as good as they are.
TEST(Links, WhereRanksShareCoresEvenTheQuickestIterationHasToBeSlow) {
  for (std::int64_t n = 4; n <= 7; ++n) {
    auto all = links_of(n, [&](const RankPair& l, int) { return l == RankPair{1, 2} ? 100 : 1; });
    for (LinkTimes& one : all)
      for (auto& pass : one.passes) pass[2] = 1000;
    EXPECT_THAT(slow_links(all).sure, ElementsAre(RankPair{1, 2})) << n;
    EXPECT_THAT(slow_links(all, Slow::quickest).sure, IsEmpty()) << n;
  }
}

// As many as leave the upper quartile to others.
TEST(Links, WhereRanksShareCoresSeveralAreNamedThatAreSlowerThanAllOthers) {
  for (std::int64_t n = 5; n <= 8; ++n)
    for (std::size_t many = 1; many <= static_cast<std::size_t>(n * (n - 1) / 2); ++many) {
      std::int64_t at = 0;
      std::set<std::pair<std::int64_t, std::int64_t>> slow;
      for (const auto& round : tournament(n))
        for (const RankPair& l : round)
          if (slow.size() < many && at++ % 2 == 0) slow.insert({l.a, l.b});
      if (slow.size() < many) continue;
      const auto all = links_of(n, [&](const RankPair& l, int) { return slow.contains({l.a, l.b}) ? 5 : 1; });
      const std::size_t most = (all.size() - 1) / 4;
      EXPECT_THAT(slow_links(all, Slow::quickest).sure, SizeIs(many <= most ? many : 0)) << n << " " << many;
    }
}

// A loaded machine: in each second pass, third or fourth a link waits for a core, as long as it has it;
// nobody is slower than another. One that is, by more than anybody waits, is named.
TEST(Links, WaitsForACoreNameNobody) {
  std::mt19937 draw;  // NOLINT: the same each time
  for (int run = 0; run < 300; ++run)
    for (std::int64_t n : {4, 6}) {
      std::map<std::tuple<std::int64_t, std::int64_t, int>, double> wait;
      const auto waits = [&](const RankPair& l, int pass) {
        double& one = wait[{l.a, l.b, pass}];
        if (one == 0) one = draw() % (2 + run % 3) == 0 ? 100 + draw() % 200 : 1;
        return one;
      };
      const auto all = links_of(n, waits);
      for (Slow which : both) {
        EXPECT_THAT(slow_links(all, which).sure, IsEmpty()) << run;
        EXPECT_THAT(slow_ranks(all, which), IsEmpty()) << run;
      }
      const auto planted = links_of(n, [&](const RankPair& l, int p) {
        return waits(l, p) + (l == RankPair{1, 2} ? 400 : 0);
      });
      EXPECT_THAT(slow_links(planted, Slow::quickest).sure, ElementsAre(RankPair{1, 2})) << run;
    }
}

}  // namespace
}  // namespace plumb
