#include "harness/measure/statistics.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

namespace plumb {
namespace {

constexpr double tail = 0.025;  // on either side

std::vector<double> in_order(std::vector<double> all) {
  std::ranges::sort(all);
  return all;
}

double at(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// How many of the smallest numbers may be left out on either side: the most for which as many heads or fewer,
// of n coins, come in at most 2.5 of 100 throws. -1 where none may.
std::int64_t left_out_of_coins(std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k <= n; ++k) {
    const auto count = static_cast<double>(n), heads = static_cast<double>(k);
    sum += std::exp(std::lgamma(count + 1) - std::lgamma(heads + 1) - std::lgamma(count - heads + 1) -
                    count * std::log(2.0));
    if (sum > tail) return static_cast<std::int64_t>(k) - 1;
  }
  return -1;
}

// In which share of the orders of n and m numbers a given number of pairs (one of each) is the wrong way round.
std::vector<double> orders(std::size_t n, std::size_t m) {
  std::vector<std::vector<double>> row(m + 1, std::vector<double>(n * m + 1, 0));
  for (std::size_t j = 0; j <= m; ++j) row[j][0] = 1;  // of none and j
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= m; ++j) {
      const auto one = static_cast<double>(i), other = static_cast<double>(j);
      std::vector<double> next = row[j - 1];  // the largest is one of the m
      for (double& share : next) share *= other / (one + other);
      for (std::size_t u = j; u <= n * m; ++u) next[u] += one / (one + other) * row[j][u - j];
      row[j] = std::move(next);
    }
  return row[m];
}

// The same of pairs: of so many ratios the smallest that may be left out.
std::int64_t left_out_of_orders(std::size_t n, std::size_t m) {
  double sum = 0;
  std::int64_t u = 0;
  for (double share : orders(n, m))
    if ((sum += share) > tail)
      break;
    else
      ++u;
  return u - 1;
}

// Of so many that nobody counts the orders: those pairs are as good as normally distributed, with a mean of
// nm/2 and a variance of nm(n+m+1)/12 (Mann and Whitney, 1947), half a pair for what lies between.
constexpr std::size_t countable = 50 * 50;  // as R's wilcox.test does
std::int64_t left_out_of_many(std::size_t n, std::size_t m) {
  constexpr double deviations = 1.959963984540054;  // beyond which lies `tail`
  const auto count = static_cast<double>(n), other = static_cast<double>(m), pairs = count * other;
  return static_cast<std::int64_t>(
      std::floor(pairs / 2 - deviations * std::sqrt(pairs * (count + other + 1) / 12) - 0.5));
}

// All ratios of one of `a` to one of `b`, both in order, none of which is written down.
struct Ratios {
  std::vector<double> a, b;
  std::size_t count() const { return a.size() * b.size(); }

  std::size_t up_to(double ratio) const {
    std::size_t n = 0, above = 0;
    for (double x : a) {
      while (above < b.size() && x / b[above] > ratio) ++above;
      n += b.size() - above;
    }
    return n;
  }

  // The k-th smallest: the bits of what is not negative are in the order of the numbers.
  double operator[](std::size_t k) const {
    std::uint64_t low = 0, high = std::bit_cast<std::uint64_t>(HUGE_VAL);
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (up_to(std::bit_cast<double>(middle)) > k)
        high = middle;
      else
        low = middle + 1;
    }
    return std::bit_cast<double>(low);
  }

  double middle() const {
    const double low = (*this)[(count() - 1) / 2], high = (*this)[count() / 2];
    return low + (high - low) / 2;
  }
};

std::optional<Between> without(const std::vector<double>& sorted, std::int64_t left_out) {
  if (left_out < 0) return std::nullopt;
  const auto k = static_cast<std::size_t>(left_out);
  return Between{sorted[k], sorted[sorted.size() - 1 - k]};
}

}  // namespace

double quantile(std::vector<double> all, double q) {
  assert(!all.empty() && 0 <= q && q <= 1);
  return at(in_order(std::move(all)), q);
}

std::optional<Between> interval_of_median(std::vector<double> all) {
  return without(in_order(std::move(all)), left_out_of_coins(all.size()));
}

double middle_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  assert(!a.empty() && !b.empty());
  return Ratios{in_order(a), in_order(b)}.middle();
}

std::optional<Ratio> ratio_of(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const bool few = a.size() * b.size() < countable;
  const std::int64_t k = few ? left_out_of_orders(a.size(), b.size()) : left_out_of_many(a.size(), b.size());
  if (k < 0) return std::nullopt;
  const Ratios all{in_order(a), in_order(b)};
  const auto left_out = static_cast<std::size_t>(k);
  return Ratio{
      all.middle(), {all[left_out], all[all.count() - 1 - left_out]}
  };
}

double chance_of_more(const std::vector<double>& a, const std::vector<double>& b, double times) {
  assert(!a.empty() && !b.empty());
  const std::size_t wrong_way = Ratios{in_order(a), in_order(b)}.up_to(times);
  if (a.size() * b.size() >= countable) {
    const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), pairs = n * m;
    const double apart = (pairs / 2 - static_cast<double>(wrong_way) - 0.5) / std::sqrt(pairs * (n + m + 1) / 12);
    return std::erfc(apart / std::sqrt(2.0)) / 2;
  }
  const std::vector<double> shares = orders(a.size(), b.size());
  return std::accumulate(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(wrong_way) + 1, 0.0);
}

double least_chance(std::size_t of_each) {
  double share = 1;
  for (std::size_t i = 1; i <= of_each; ++i) share *= static_cast<double>(i) / static_cast<double>(of_each + i);
  return share;
}

Ratio one_over(const Ratio& r) {
  return {
      1 / r.middle, {1 / r.interval.high, 1 / r.interval.low}
  };
}

Ratio so_many_times(const Ratio& r, double factor) {
  return {
      r.middle * factor, {r.interval.low * factor, r.interval.high * factor}
  };
}

std::optional<Ratio> ratio_of_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  assert(a.size() == b.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  const auto interval = interval_of_median(ratios);
  if (!interval) return std::nullopt;
  return Ratio{quantile(ratios, 0.5), *interval};
}

namespace {

// In which share of the signs of so many ranks those that are positive add up to each sum.
std::vector<double> signs(std::size_t n) {
  std::vector<double> shares{1};
  for (std::size_t rank = 1; rank <= n; ++rank) {
    std::vector<double> next(shares.size() + rank, 0);
    for (std::size_t sum = 0; sum < shares.size(); ++sum) next[sum] += shares[sum] / 2, next[sum + rank] += shares[sum] / 2;
    shares = std::move(next);
  }
  return shares;
}

// Of as many as there are ranks to add up: those above a border are as many as its positive ranks come to (Tukey).
std::vector<double> means_of_two(const std::vector<double>& a, const std::vector<double>& b) {
  assert(a.size() == b.size());
  std::vector<double> all;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = i; j < a.size(); ++j) all.push_back((std::log(a[i] / b[i]) + std::log(a[j] / b[j])) / 2);
  return in_order(std::move(all));
}

}  // namespace

std::optional<Ratio> ratio_in_turns(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  std::int64_t left_out = -1;
  for (const double share : signs(a.size()))
    if ((sum += share) <= tail)
      ++left_out;
    else
      break;
  const std::vector<double> all = means_of_two(a, b);
  const auto interval = without(all, left_out);
  if (!interval) return std::nullopt;
  return Ratio{
      std::exp(at(all, 0.5)), {std::exp(interval->low), std::exp(interval->high)}
  };
}

double chance_in_turns(const std::vector<double>& a, const std::vector<double>& b, double times) {
  const std::vector<double> shares = signs(a.size()), all = means_of_two(a, b);
  const auto below = std::ranges::upper_bound(all, std::log(times)) - all.begin();
  return std::accumulate(shares.begin(), shares.begin() + below + 1, 0.0);
}

double least_chance_in_turns(std::size_t pairs) { return std::ldexp(1.0, -static_cast<int>(pairs)); }

double spread(const std::vector<double>& all) {
  assert(!all.empty());
  const auto [least, most] = std::ranges::minmax(all);
  return std::sqrt(most / least);
}

namespace {

// Of lists in order, whether so many of 100 parts of their weight lie at or below a number. Lists of one length
// are counted together, so that what is even is even.
bool reach(const std::vector<std::vector<double>>& lists, int percent, double most) {
  std::map<std::size_t, std::int64_t> beyond;  // by the length of lists: in hundredths of a number of theirs
  for (const std::vector<double>& one : lists)
    beyond[one.size()] += 100 * (std::ranges::upper_bound(one, most) - one.begin()) - percent * std::ssize(one);
  double sum = 0;
  for (const auto& [length, parts] : beyond) sum += static_cast<double>(parts) / static_cast<double>(length);
  return sum >= 0;
}

std::vector<double> joined(const std::vector<std::vector<double>>& lists) {
  std::vector<double> all;
  for (const std::vector<double>& one : lists) all.insert(all.end(), one.begin(), one.end());
  return all;
}

}  // namespace

double quantile_of_all(const std::vector<std::vector<double>>& lists, int percent) {
  assert(!lists.empty() && std::ranges::none_of(lists, [](const auto& one) { return one.empty(); }));
  std::vector<std::vector<double>> sorted;
  for (const std::vector<double>& one : lists) sorted.push_back(in_order(one));
  const std::vector<double> all = in_order(joined(lists));
  const auto found =
      std::ranges::partition_point(all, [&](double one) { return !reach(sorted, percent, one); });
  return found == all.end() ? all.back() : *found;
}

Figures figures(const std::vector<std::vector<double>>& repetitions) {
  std::vector<double> medians;
  for (const std::vector<double>& one : repetitions) medians.push_back(quantile(one, 0.5));
  const std::vector<double> all = joined(repetitions);
  return {all.size(),
          std::ranges::min(all),
          quantile(medians, 0.5),
          quantile_of_all(repetitions, 95),
          quantile_of_all(repetitions, 99),
          quantile_of_all(repetitions, 75) - quantile_of_all(repetitions, 25)};
}

bool settled(const std::vector<double>& all) {
  const auto interval = interval_of_median(all);
  if (!interval) return false;
  const double median = quantile(all, 0.5);
  return interval->low >= (1 - near_enough) * median && interval->high <= (1 + near_enough) * median;
}

}  // namespace plumb
