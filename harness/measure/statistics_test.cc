#include "harness/measure/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "harness/measure/compare.h"

namespace plumb {
namespace {

std::vector<double> first_numbers(std::size_t n) {
  std::vector<double> all(n);
  std::iota(all.begin(), all.end(), 1.0);
  return all;
}

TEST(Statistics, AQuantileLiesOnTheLineBetweenItsNeighbours) {
  EXPECT_EQ(quantile({7}, 0.95), 7);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(quantile(first_numbers(101), 0.95), 96);
}

// In how many of all 2^n throws of n coins the median of a distribution, which each number is above or below
// with equal chance, lies outside of what is left when k are left out on either side.
double missed(int n, int k) {
  int outside = 0;
  for (unsigned throws = 0; throws < 1U << n; ++throws) {
    const int below = std::popcount(throws);
    outside += below <= k || n - below <= k;
  }
  return outside / static_cast<double>(1U << n);
}

TEST(Statistics, TheIntervalOfAMedianMissesItInAtMost5Of100AndOneNarrowerInMore) {
  for (int n = 1; n <= 16; ++n) {
    const auto interval = interval_of_median(first_numbers(n));
    if (!interval) {
      EXPECT_GT(missed(n, 0), 0.05) << n;
      continue;
    }
    const int k = static_cast<int>(interval->low) - 1;
    EXPECT_EQ(interval->high, n - k) << n;
    EXPECT_LE(missed(n, k), 0.05) << n;
    EXPECT_GT(missed(n, k + 1), 0.05) << n;
  }
  EXPECT_FALSE(interval_of_median(first_numbers(5)));
  EXPECT_TRUE(interval_of_median(first_numbers(6)));
}

// All ways to mix n numbers of one distribution with m of it: in which share is 1 no factor of the interval?
double ratio_missed(int n, int m) {
  int outside = 0, all = 0;
  for (unsigned mix = 0; mix < 1U << (n + m); ++mix) {
    if (std::popcount(mix) != n) continue;
    std::vector<double> a, b;
    for (int i = 0; i < n + m; ++i) (mix >> i & 1 ? a : b).push_back(i + 1.0);
    const Between interval = ratio_of(a, b)->interval;
    outside += interval.low > 1 || interval.high < 1, ++all;
  }
  return outside / static_cast<double>(all);
}

TEST(Statistics, TheIntervalOfARatioMissesOneInAtMost5Of100OfAllMixtures) {
  for (int n = 3; n <= 6; ++n)
    for (int m = 3; m <= 6; ++m) {
      if (!ratio_of(first_numbers(n), first_numbers(m))) continue;
      EXPECT_LE(ratio_missed(n, m), 0.05) << n << " and " << m;
      EXPECT_GT(ratio_missed(n, m), 0) << n << " and " << m << ": it holds everything";
    }
  EXPECT_TRUE(ratio_of(first_numbers(4), first_numbers(4)));
  EXPECT_FALSE(ratio_of(first_numbers(3), first_numbers(3)));
  EXPECT_FALSE(ratio_of({}, first_numbers(9)));
}

// The share of orders of n and m numbers in which k pairs or fewer are the wrong way round, by the last of them.
double orders_up_to(std::size_t n, std::size_t m, std::size_t k) {
  std::vector<std::vector<double>> row(m + 1, {1.0});
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= m; ++j) {
      std::vector<double> all(i * j + 1, 0);
      for (std::size_t u = 0; u < row[j].size(); ++u) all[u + j] += row[j][u] * i / (i + j);
      for (std::size_t u = 0; u < row[j - 1].size(); ++u)
        all[u] += row[j - 1][u] * j / (i + j);
      row[j] = all;
    }
  return std::accumulate(row[m].begin(), row[m].begin() + static_cast<std::ptrdiff_t>(k) + 1, 0.0);
}

// Every ratio is another power of a base: which are left out is seen from the interval.
TEST(Statistics, TheIntervalOfARatioOfManyMissesOneInAtMost5Of100AsThatOfFew) {
  for (const auto& [n, m] : {std::pair{7, 9}, {49, 50}, {50, 50}, {51, 50}, {300, 9}, {625, 4}}) {
    constexpr double base = 1.1;
    std::vector<double> a, b;
    for (int i = 0; i < n; ++i) a.push_back(std::pow(base, i));
    for (int j = 0; j < m; ++j) b.push_back(std::pow(base, -j * n));
    const auto ratio = ratio_of(a, b);
    ASSERT_TRUE(ratio) << n << " and " << m;
    const auto left_out = static_cast<std::size_t>(std::lround(std::log(ratio->interval.low) / std::log(base)));
    EXPECT_EQ(std::lround(std::log(ratio->interval.high) / std::log(base)),
              n * m - 1 - static_cast<std::int64_t>(left_out));
    EXPECT_LE(orders_up_to(n, m, left_out), 0.025) << n << " and " << m;
    EXPECT_GT(orders_up_to(n, m, left_out + 1 + n * m / 100), 0.025) << n << " and " << m << ": it could be narrower";
  }
}

TEST(Statistics, ManyRepetitionsHaveARatioAsFewHave) {
  for (std::size_t n : {4, 40, 501, 600, 3000}) {
    std::vector<double> a = first_numbers(n), b = first_numbers(n);
    for (double& x : a) x *= 3;
    const auto ratio = ratio_of(a, b);
    ASSERT_TRUE(ratio) << n;
    EXPECT_LE(ratio->interval.low, 3) << n;
    EXPECT_GE(ratio->interval.high, 3) << n;
    EXPECT_LE(ratio->interval.low, ratio->middle) << n;
    EXPECT_LE(ratio->middle, ratio->interval.high) << n;
  }
}

TEST(Statistics, AFactorIsFoundAgain) {
  const std::vector<double> one{100, 101, 102, 103, 104}, twice{200, 202, 204, 206, 208};
  const Ratio ratio = *ratio_of(twice, one);
  EXPECT_EQ(ratio.middle, 2);
  EXPECT_LT(ratio.interval.low, 2);
  EXPECT_GT(ratio.interval.high, 2);
}

TEST(Statistics, SpreadIsHowFarTheyLieFromTheirMiddle) {
  EXPECT_EQ(spread({7}), 1);
  EXPECT_EQ(spread({200, 400, 100}), 2);  // of 200
}

TEST(Statistics, FiguresAreThoseOfTheSamples) {
  const Figures f = figures({first_numbers(101)});
  EXPECT_EQ(f.count, 101U);
  EXPECT_EQ(f.least, 1);
  EXPECT_EQ(f.median, 51);
  EXPECT_EQ(f.p95, 96);
  EXPECT_EQ(f.p99, 100);
  EXPECT_EQ(f.iqr, 50);
}

// One list of 0, 1 and 2, another that is longer, for every pair of lists up to four numbers.
void each_two_lists(const std::function<void(const std::vector<std::vector<double>>&)>& visit) {
  std::vector<std::vector<double>> all;
  for (std::size_t n = 1; n <= 4; ++n)
    for (int code = 0; code < static_cast<int>(std::pow(3, n)); ++code) {
      all.emplace_back();
      for (std::size_t i = 0, rest = code; i < n; ++i, rest /= 3) all.back().push_back(rest % 3);
    }
  for (const auto& one : all)
    for (const auto& other : all) visit({one, other});
}

// How much of the weight lies at or below a number: of both lists, in 24ths, as all of one to four numbers divide 12.
int weight_up_to(const std::vector<std::vector<double>>& lists, double most) {
  int sum = 0;
  for (const auto& one : lists)
    sum += 12 / static_cast<int>(one.size()) * static_cast<int>(std::ranges::count_if(one, [&](double x) { return x <= most; }));
  return sum;
}

TEST(Statistics, AQuantileOfAllIsTheLeastThatItsShareReaches) {
  each_two_lists([](const auto& lists) {
    for (int percent : {25, 50, 75, 95, 99}) {
      double least = 0;
      while (100 * weight_up_to(lists, least) < 24 * percent) ++least;
      ASSERT_EQ(quantile_of_all(lists, percent), least) << percent;
    }
  });
}

TEST(Statistics, FiguresAreInOrderAndALongerRepetitionCountsNoMore) {
  each_two_lists([](const auto& lists) {
    const Figures f = figures(lists);
    ASSERT_LE(f.least, quantile_of_all(lists, 25));
    ASSERT_LE(quantile_of_all(lists, 25), f.median);
    ASSERT_LE(f.median, quantile_of_all(lists, 76));
    ASSERT_LE(quantile_of_all(lists, 76), f.p95);
    ASSERT_LE(f.p95, f.p99);
    auto longer = lists;
    for (int i = 0; i < 2; ++i) longer[0].insert(longer[0].end(), lists[0].begin(), lists[0].end());
    const Figures g = figures(longer);
    ASSERT_EQ(std::tie(f.least, f.median, f.p95, f.p99, f.iqr), std::tie(g.least, g.median, g.p95, g.p99, g.iqr));
  });
}

// Of five repetitions of 20 one met a slow hundredth of all, which the middle of their p99 would not show.
TEST(Statistics, WhatOneRepetitionMetIsInTheTail) {
  std::vector<std::vector<double>> all(5, std::vector<double>(20, 100));
  all[2][0] = all[2][1] = 9000;
  EXPECT_EQ(figures(all).p99, 9000);
  EXPECT_EQ(figures(all).p95, 100);
  for (double& slow : all[4]) slow = 500;
  EXPECT_EQ(figures(all).p95, 500);
  EXPECT_EQ(figures(all).median, 100);
}

TEST(Statistics, ACaseIsSettledOnceItsMediansIntervalIsWithin2Percent) {
  EXPECT_FALSE(settled({100, 100, 100, 100, 100}));  // too few to say
  EXPECT_TRUE(settled({98, 100, 100, 100, 100, 102}));
  EXPECT_FALSE(settled({97, 100, 100, 100, 100, 102}));
  EXPECT_FALSE(settled({98, 100, 100, 100, 100, 103}));
}

// Samples around a time, and the same slowed down.
std::vector<double> around(double middle, int n, double factor) {
  std::vector<double> all;
  for (int i = 0; i < n; ++i) all.push_back(factor * middle * (1 + 0.001 * (i % 7 - 3)));
  return all;
}

TEST(Compare, ClocksAgreeWithin2PercentAndNoFurther) {
  const auto plain = around(1e6, 40, 1);
  EXPECT_EQ(agreement(ratio_of_pairs(around(1e6, 40, 1.005), plain)), Agreement::agree);
  EXPECT_EQ(agreement(ratio_of_pairs(around(1e6, 40, 1.05), plain)), Agreement::disagree);
  EXPECT_EQ(agreement(ratio_of_pairs(around(1e6, 40, 0.95), plain)), Agreement::disagree);
  EXPECT_EQ(agreement(std::nullopt), Agreement::unsure);
  std::vector<double> torn = plain;
  for (std::size_t i = 0; i < torn.size(); i += 2) torn[i] *= 1.1;
  EXPECT_EQ(agreement(ratio_of_pairs(torn, plain)), Agreement::unsure);
  EXPECT_EQ(name(Agreement::disagree), "DISAGREE");
}

TEST(Compare, WhatBecameOfACase) {
  const auto before = around(1e6, 5, 1);
  EXPECT_EQ(became(ratio_of(before, before), 1), Became::same);
  EXPECT_EQ(became(ratio_of(around(1e6, 5, 1.1), before), 1), Became::slower);
  EXPECT_EQ(became(ratio_of(around(1e6, 5, 0.9), before), 1), Became::faster);
  EXPECT_EQ(became(ratio_of({1e6, 2e6, 1e6, 2e6, 1e6}, before), 1), Became::unsure);
  EXPECT_EQ(became(ratio_of(around(1e6, 3, 1.1), around(1e6, 3, 1)), 1), Became::unsure);  // three of each
  EXPECT_EQ(became(ratio_of(around(1e6, 5, 1.01), before), 1), Became::same);
  EXPECT_EQ(became(ratio_of(around(1e6, 5, 1.021), before), 1), Became::unsure);
  for (double times : {1.1, 1 / 1.1}) {
    const auto ratio = ratio_of(around(1e6, 5, times), before);
    EXPECT_NE(became(ratio, 1.08), Became::unsure) << times;
    EXPECT_EQ(became(ratio, 1.12), Became::unsure) << times << ": a run differs as much in itself";
  }
  EXPECT_EQ(name(Became::unsure), "UNSURE");
}

// Of so few numbers each order can be counted: 70 of four and four.
TEST(Statistics, AChanceIsTheShareOfOrdersThatAreAsFarApart) {
  const auto orders = [](double chance) { return std::lround(70 * chance); };
  EXPECT_EQ(orders(least_chance(4)), 1);
  EXPECT_EQ(std::lround(1 / least_chance(8)), 12870);
  const std::vector<double> low{1, 2, 3, 4}, high{5, 6, 7, 8}, mixed{1.5, 6, 7, 8};
  EXPECT_EQ(orders(chance_of_more(high, low, 1)), 1);
  EXPECT_EQ(orders(chance_of_more(low, high, 1)), 70);
  EXPECT_EQ(orders(chance_of_more(mixed, low, 1)), 7) << "three pairs or fewer are the wrong way round: 1 + 1 + 2 + 3";
  EXPECT_EQ(orders(chance_of_more(high, low, 1.3)), 2) << "5 is not more than 1.3 times 4";
}

// Law: an interval leaves a factor out where the chance of as much is a fortieth at most.
// Of every choice of which of each pair is the longer one, by so much.
TEST(Statistics, OfEqualsThatTakeTurnsAnIntervalMissesOneInAtMost5Of100) {
  for (std::size_t n = 4; n <= 10; ++n) {
    double missed = 0, least = 1;
    for (std::uint32_t chosen = 0; chosen < 1U << n; ++chosen) {
      std::vector<double> a, b;
      for (std::size_t i = 0; i < n; ++i) {
        const double by = 1 + 0.1 * static_cast<double>(i * i + 1);
        a.push_back(chosen >> i & 1 ? by : 1), b.push_back(chosen >> i & 1 ? 1 : by);
      }
      const auto ratio = ratio_in_turns(a, b);
      ASSERT_EQ(ratio.has_value(), n >= 6);
      const double chance = 2 * std::min(chance_in_turns(a, b, 1), chance_in_turns(b, a, 1));
      least = std::min(least, chance / 2);
      if (!ratio) continue;
      const bool misses = ratio->interval.low > 1 || ratio->interval.high < 1;
      ASSERT_EQ(misses, chance <= 0.05) << chance;
      missed += misses;
    }
    EXPECT_LE(missed, 0.05 * std::ldexp(1.0, static_cast<int>(n))) << n;
    EXPECT_EQ(least, least_chance_in_turns(n));
  }
  EXPECT_EQ(ratio_in_turns({1, 2, 3, 4, 5, 6, 70}, {1, 2, 3, 4, 5, 6, 7})->middle, 1) << "what one pair met is left out";
}

TEST(Statistics, AChanceAndAnIntervalSayTheSame) {
  std::uint32_t random = 3;
  const auto next = [&] { return 100.0 + ((random = random * 1664525 + 1013904223) >> 22); };
  for (std::size_t n : {4U, 5U, 9U})
    for (int i = 0; i < 200; ++i) {
      std::vector<double> a, b;
      for (std::size_t k = 0; k < n; ++k) a.push_back(2 * next()), b.push_back(next());
      const double low = ratio_of(a, b)->interval.low;
      for (double times : {0.8, 1.0, 1.5, 2.0})
        EXPECT_EQ(low > times, chance_of_more(a, b, times) <= 0.025) << low << " " << times;
    }
}

}  // namespace
}  // namespace plumb
