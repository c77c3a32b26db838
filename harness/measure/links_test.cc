#include "harness/measure/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

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

// All links of four ranks, each as long as is said, some hundredths more or less.
std::vector<LinkTimes> links_of_four(std::map<std::pair<int, int>, double> longer, int samples) {
  std::vector<LinkTimes> all;
  for (const auto& round : tournament(4))
    for (const RankPair& link : round) {
      const auto at = longer.find({static_cast<int>(link.a), static_cast<int>(link.b)});
      LinkTimes times{link, {}};
      for (int i = 0; i < samples; ++i)
        times.nanoseconds.push_back((at == longer.end() ? 1000.0 : at->second) +
                                    10.0 * ((i + static_cast<int>(link.a)) % 7));
      all.push_back(times);
    }
  return all;
}

TEST(Links, TheSlowOneIsNamed) {
  EXPECT_THAT(slow_links(links_of_four({}, 20)), IsEmpty());
  EXPECT_THAT(slow_links(links_of_four(
                  {
                      {{1, 2}, 2000}
  },
                  20)),
              ElementsAre(RankPair{1, 2}));
  EXPECT_THAT(slow_links(links_of_four(
                  {
                      {{1, 2}, 2000}
  },
                  5)),
              IsEmpty())
      << "too few to say";
  EXPECT_THAT(slow_links({}), IsEmpty());
  const auto all = links_of_four({}, 20);
  const auto figures = link_figures(all, {all[1]});
  EXPECT_EQ(figures[1].link, all[1].link);
  EXPECT_EQ(figures[1].at_once, figures[1].alone);
  EXPECT_EQ(figures[0].at_once, 0) << "it was not tried";
}

// All links of n ranks, some hundredths apart, and as many times as long as is said of them.
std::vector<LinkTimes> links_of(std::int64_t n, const std::function<double(const RankPair&)>& longer) {
  std::vector<LinkTimes> all;
  for (const auto& round : tournament(n))
    for (const RankPair& link : round) {
      all.push_back({link, {}});
      for (int i = 0; i < 20; ++i)
        all.back().nanoseconds.push_back(longer(link) * (1000 + 10.0 * ((i + static_cast<int>(link.a)) % 7)));
    }
  return all;
}

TEST(Links, TheSlowOneIsNamedOfAsManyRanksAsCanSayIt) {
  for (std::int64_t n = 2; n <= 9; ++n)
    for (const auto& round : tournament(n))
      for (const RankPair& one : round) {
        const auto all = links_of(n, [&](const RankPair& l) { return l == one ? 100 : 1; });
        EXPECT_EQ(slow_links(all), n < 4 ? std::vector<RankPair>{} : std::vector{one}) << n;
        EXPECT_EQ(all.size() < fewest_links, n < 4) << n << ": too few to say";
        EXPECT_THAT(slow_ranks(all), IsEmpty()) << n;
      }
}

TEST(Links, ARankWhoseLinksAreAllSlowIsNamed) {
  for (std::int64_t n = 4; n <= 9; ++n) {
    EXPECT_THAT(slow_ranks(links_of(n, [](const RankPair&) { return 1; })), IsEmpty()) << n;
    for (std::int64_t rank = 0; rank < n; ++rank) {
      const auto all = links_of(n, [&](const RankPair& l) { return l.a == rank || l.b == rank ? 2 : 1; });
      EXPECT_THAT(slow_ranks(all), ElementsAre(rank)) << n;
      const RankPair quick = rank == 0 ? RankPair{0, 1} : RankPair{0, rank};
      const auto but_one = links_of(
          n, [&](const RankPair& l) { return (l.a == rank || l.b == rank) && !(l == quick) ? 2 : 1; });
      EXPECT_THAT(slow_ranks(but_one), IsEmpty()) << n << ": one of its links is as quick as others'";
    }
  }
}

// One of its iterations is as quick as others', all the rest wait for a core: it may be as good as they are.
TEST(Links, WhereRanksShareCoresEvenTheQuickestIterationHasToBeSlow) {
  for (std::int64_t n = 4; n <= 7; ++n)
    for (std::int64_t rank = 0; rank < n; ++rank) {
      auto all = links_of(n, [&](const RankPair& l) { return l.a == rank || l.b == rank ? 100 : 1; });
      EXPECT_THAT(slow_ranks(all, Slow::quickest), ElementsAre(rank)) << n;
      for (LinkTimes& one : all) one.nanoseconds[3] = 1000;
      EXPECT_THAT(slow_ranks(all), ElementsAre(rank)) << n;
      EXPECT_THAT(slow_ranks(all, Slow::quickest), IsEmpty()) << n;
      auto one = links_of(n, [&](const RankPair& l) { return l == RankPair{1, 2} ? 100 : 1; });
      EXPECT_THAT(slow_links(one, Slow::quickest), ElementsAre(RankPair{1, 2})) << n;
      for (LinkTimes& link : one) link.nanoseconds[3] = 1000;
      EXPECT_THAT(slow_links(one, Slow::quickest), IsEmpty()) << n;
    }
}

// Half of its times are long: where its median lies nobody can say.
TEST(Links, OneThatIsSlowNowAndThenIsNotNamed) {
  auto all = links_of_four({}, 20);
  for (std::size_t i = 0; i < 20; i += 2) all[2].nanoseconds[i] *= 3;
  EXPECT_THAT(slow_links(all), IsEmpty());
}

}  // namespace
}  // namespace plumb
