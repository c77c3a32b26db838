// Order statistics of samples.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace plumb {

struct Between {
  double low = 0, high = 0;
};

// So many numbers at least are compared with others: with three of each every order may be chance.
constexpr std::size_t fewest_compared = 4;

// The number below which a share `q` of them lies, on the line between the two nearest. Not of none.
double quantile(std::vector<double> all, double q);

// Where the median of what they are drawn from lies in at least 95 of 100 draws, whatever its distribution:
// between two of them, by the binomial distribution. Nothing of fewer than six.
std::optional<Between> interval_of_median(std::vector<double> all);

// By how much the numbers of `a` are larger than those of `b`, as a factor: the middle of all ratios, and an
// interval that holds it in at least 95 of 100 draws, where both are drawn from one distribution but for that
// factor (Wilcoxon; exact but of 2,500 pairs and more). Nothing where there are too few of them: of each at
// least four, or as many ways to mix them.
struct Ratio {
  double middle = 1;
  Between interval;
};
std::optional<Ratio> ratio_of(const std::vector<double>& a, const std::vector<double>& b);

// In which share of draws from one distribution numbers of `a` are more than so many times those of `b` as often as
// here, or more often (Wilcoxon, as ratio_of).
double chance_of_more(const std::vector<double>& a, const std::vector<double>& b, double times);

// Of so many numbers each, all of the one beyond all of the other.
double least_chance(std::size_t of_each);

// Its middle alone, of as few as there are. Not of none.
double middle_ratio(const std::vector<double>& a, const std::vector<double>& b);

// The same the other way round; so many times as large.
Ratio one_over(const Ratio&);
Ratio so_many_times(const Ratio&, double);

// The same of pairs: the median of a[i] / b[i], by interval_of_median.
std::optional<Ratio> ratio_of_pairs(const std::vector<double>& a, const std::vector<double>& b);

// The same of pairs that took turns: the middle of all means of two of the logarithms, and by signed ranks (Wilcoxon; exact),
// for of two equals each is as likely to be the longer one by so much. Nothing of fewer than six. In which share of equal
// pairs a[i] is more than so many times b[i] as often and by as much as here; and the least such share of so many pairs.
std::optional<Ratio> ratio_in_turns(const std::vector<double>& a, const std::vector<double>& b);
double chance_in_turns(const std::vector<double>& a, const std::vector<double>& b, double times);
double least_chance_in_turns(std::size_t pairs);

// How far they lie from the middle between the smallest and the largest, as a factor. Not of none.
double spread(const std::vector<double>&);

// The least number at or below which so many of 100 parts of all numbers lie, where those of each list together
// weigh as much as those of another. Not of an empty list, nor of no list.
double quantile_of_all(const std::vector<std::vector<double>>& lists, int percent);

// Of a case, from the samples of each repetition. Laws: a repetition that took more samples counts no more than
// another; least <= lower quartile <= median <= p95 <= p99.
struct Figures {
  std::size_t count = 0;
  double least = 0, median = 0;      // of all; the middle of the repetitions' medians
  double p95 = 0, p99 = 0, iqr = 0;  // of all by quantile_of_all(), so that what one repetition met shows
};
Figures figures(const std::vector<std::vector<double>>& repetitions);  // not of an empty one, nor of none

// Whether both ends of the median's interval are within 2 % of the median: the rule by which a case is timed
// no longer.
constexpr double near_enough = 0.02;
bool settled(const std::vector<double>&);

}  // namespace plumb
