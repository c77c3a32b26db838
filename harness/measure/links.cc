#include "harness/measure/links.h"

#include <fmt/format.h>

#include <algorithm>
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

std::vector<double> middles(const std::vector<LinkTimes>& all) {
  std::vector<double> each;
  for (const LinkTimes& one : all) each.push_back(quantile(one.nanoseconds, 0.5));
  return each;
}

std::vector<LinkFigure> link_figures(const std::vector<LinkTimes>& alone,
                                     const std::vector<LinkTimes>& at_once) {
  std::vector<LinkFigure> all;
  for (const LinkTimes& one : alone) {
    const auto among = std::ranges::find(at_once, one.link, &LinkTimes::link);
    all.push_back({one.link, quantile(one.nanoseconds, 0.5),
                   among == at_once.end() ? 0 : quantile(among->nanoseconds, 0.5)});
  }
  return all;
}

namespace {

double fence(const std::vector<LinkTimes>& all) {
  const std::vector<double> each = middles(all);
  const double low = quantile(each, 0.25), high = quantile(each, 0.75);
  return std::max(high + 1.5 * (high - low), (1 + near_enough) * high);
}

bool beyond(const LinkTimes& one, double fence, Slow which) {
  if (which == Slow::quickest) return std::ranges::min(one.nanoseconds) > fence;
  const auto interval = interval_of_median(one.nanoseconds);
  return interval && interval->low > fence;
}

}  // namespace

std::vector<RankPair> slow_links(const std::vector<LinkTimes>& all, Slow which) {
  std::vector<RankPair> slow;
  if (all.size() < fewest_links) return slow;
  const double far = fence(all);
  for (const LinkTimes& one : all)
    if (beyond(one, far, which)) slow.push_back(one.link);
  return slow;
}

std::vector<std::int64_t> slow_ranks(const std::vector<LinkTimes>& all, Slow which) {
  constexpr std::size_t fewest_others = 3;
  std::set<std::int64_t> ranks;
  for (const LinkTimes& one : all) ranks.insert({one.link.a, one.link.b});
  std::vector<std::int64_t> slow;
  for (std::int64_t rank : ranks) {
    std::vector<LinkTimes> own, others;
    for (const LinkTimes& one : all) (one.link.a == rank || one.link.b == rank ? own : others).push_back(one);
    if (own.size() < 2 || others.size() < fewest_others) continue;
    const double far = fence(others);
    if (std::ranges::all_of(own, [&](const LinkTimes& l) { return beyond(l, far, which); }))
      slow.push_back(rank);
  }
  return slow;
}

}  // namespace plumb
