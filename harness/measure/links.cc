#include "harness/measure/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "harness/measure/statistics.h"

namespace plumb {

// The circle: the last rank stays, the others go round. An odd number has one place more, for who rests.
std::vector<std::vector<RankPair>> tournament(std::int64_t n, std::int64_t every) {
  std::vector<std::vector<RankPair>> rounds;
  const std::int64_t places = n + n % 2, turning = places - 1;
  for (std::int64_t round = 0; n > 1 && round < turning; round += every) {
    rounds.emplace_back();
    for (std::int64_t i = 0; i < places / 2; ++i) {
      const std::int64_t one = (round + i) % turning,
                         other = i == 0 ? turning : (round + turning - i) % turning;
      if (std::max(one, other) < n) rounds.back().push_back({std::min(one, other), std::max(one, other)});
    }
  }
  return rounds;
}

std::string link_in_words(const std::vector<RankPair>& links) {
  std::string text = "link";
  for (const RankPair& link : links) text += fmt::format(" {}-{}", link.a, link.b);
  return text;
}

std::vector<double> joined(const LinkTimes& one) {
  std::vector<double> all;
  for (const auto& pass : one.passes) all.insert(all.end(), pass.begin(), pass.end());
  return all;
}

std::vector<double> middles(const std::vector<LinkTimes>& all) {
  std::vector<double> each;
  for (const LinkTimes& one : all) each.push_back(quantile(joined(one), 0.5));
  return each;
}

std::vector<LinkFigure> link_figures(const std::vector<LinkTimes>& alone,
                                     const std::vector<LinkTimes>& at_once) {
  std::vector<LinkFigure> all;
  for (const LinkTimes& one : alone) {
    const auto among = std::ranges::find(at_once, one.link, &LinkTimes::link);
    all.push_back(
        {one.link, quantile(joined(one), 0.5), among == at_once.end() ? 0 : quantile(joined(*among), 0.5)});
  }
  return all;
}

namespace {

using Some = std::vector<const LinkTimes*>;

double fence(const std::vector<double>& medians) {
  const double low = quantile(medians, 0.25), high = quantile(medians, 0.75);
  return std::max(high + 1.5 * (high - low), (1 + near_enough) * high);
}

// What of a pass a link has to lie beyond to be slow, by those beside it.
double bar(const Some& beside, std::size_t pass, Slow which) {
  std::vector<double> each;
  for (const LinkTimes* one : beside)
    each.push_back(which == Slow::quickest ? std::ranges::max(one->passes[pass])
                                           : quantile(one->passes[pass], 0.5));
  return which == Slow::quickest ? std::ranges::max(each) : fence(each);
}

// By how much those that may be slow, the least of them, lie beyond it: nothing where there are too few
// passes to say.
std::optional<Between> beyond(const Some& slow, const Some& beside, Slow which) {
  std::vector<double> ratios;
  for (std::size_t pass = 0; pass < slow[0]->passes.size(); ++pass) {
    double least = HUGE_VAL;
    for (const LinkTimes* one : slow)
      least = std::min(least, which == Slow::quickest ? std::ranges::min(one->passes[pass])
                                                      : quantile(one->passes[pass], 0.5));
    ratios.push_back(least / bar(beside, pass, which));
  }
  return interval_of_median(ratios);
}

Some all_but(const Some& all, const Some& these) {
  Some rest;
  for (const LinkTimes* one : all)
    if (std::ranges::find(these, one) == these.end()) rest.push_back(one);
  return rest;
}

// The most of the slowest that are slower than all others; none of which is the upper quartile.
Some slower_than_all_others(const Some& all) {
  const auto at_quartile = static_cast<std::ptrdiff_t>(std::ceil(0.75 * static_cast<double>(all.size() - 1)));
  Some slow = all;
  std::ranges::sort(slow, std::greater(), [](const LinkTimes* one) { return quantile(joined(*one), 0.5); });
  for (slow.resize(all.size() - 1 - at_quartile); !slow.empty(); slow.pop_back())
    if (const auto by = beyond(slow, all_but(all, slow), Slow::quickest); by && by->low > 1) break;
  return slow;
}

}  // namespace

Slowed slow_links(const std::vector<LinkTimes>& links, Slow which) {
  Slowed found;
  if (links.size() < fewest_links) return found;
  Some all, sure;
  for (const LinkTimes& one : links) all.push_back(&one);
  if (which == Slow::quickest) sure = slower_than_all_others(all);
  for (const LinkTimes* one : all) {
    const auto by = beyond({one}, which == Slow::quickest ? all_but(all, {one}) : all, which);
    const bool is_sure =
        which == Slow::quickest ? std::ranges::find(sure, one) != sure.end() : by && by->low > 1;
    if (is_sure)
      found.sure.push_back(one->link);
    else if (by && by->high > 1)
      found.unsure.push_back(one->link);
  }
  return found;
}

std::vector<std::int64_t> slow_ranks(const std::vector<LinkTimes>& all, Slow which) {
  constexpr std::size_t fewest_others = 3;
  std::set<std::int64_t> ranks;
  for (const LinkTimes& one : all) ranks.insert({one.link.a, one.link.b});
  std::vector<std::int64_t> slow;
  for (std::int64_t rank : ranks) {
    Some own, others;
    for (const LinkTimes& one : all)
      (one.link.a == rank || one.link.b == rank ? own : others).push_back(&one);
    if (own.size() < 2 || others.size() < fewest_others) continue;
    if (const auto by = beyond(own, others, which); by && by->low > 1) slow.push_back(rank);
  }
  return slow;
}

}  // namespace plumb
