// Links between ranks, two by two: in which order they are tried, and which is slow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct RankPair {
  std::int64_t a = 0, b = 0;  // a < b
  bool operator==(const RankPair&) const = default;
};

// Every pair of n ranks in one of its rounds, in each of which no rank stands twice: n-1 rounds, or n where n
// is odd and in each one rank rests. Of them every `every`-th.
std::vector<std::vector<RankPair>> tournament(std::int64_t n, std::int64_t every = 1);

// What a rank is asked: "link 0-1 2-3".
std::string link_in_words(const std::vector<RankPair>&);

// A link, and what it took in nanoseconds, in each pass of the tournament time after time: what comes in one
// pass, such as a load, is in many of its times, and in none of another pass.
struct LinkTimes {
  RankPair link;
  std::vector<std::vector<double>> passes;
};

// What it took in the middle, alone and while all pairs of its round sent.
struct LinkFigure {
  RankPair link;
  double alone = 0, at_once = 0;
};
std::vector<LinkFigure> link_figures(const std::vector<LinkTimes>& alone,
                                     const std::vector<LinkTimes>& at_once);

// What each took in the middle, in the order of the links.
std::vector<double> middles(const std::vector<LinkTimes>&);

// What a pass has to show of a link that is slow: that its median lies beyond Tukey's fence of the medians of
// that pass, the upper quartile and one and a half times the range between both, and more than 2 % beyond the
// upper quartile; or, where an iteration also waits for a core, that even its quickest is longer than the
// longest of any other.
enum class Slow : std::uint8_t { median, quickest };

// How sure it is by the passes, whose number is that of coins (interval_of_median()): it is one in 95 of 100
// draws, or may be one.
struct Slowed {
  std::vector<RankPair> sure, unsure;
};

// The links that are slower than others are by chance. Of those of which the quickest counts several may be
// slow, as long as the upper quartile is none of them.
Slowed slow_links(const std::vector<LinkTimes>&, Slow = Slow::median);

// The ranks all of whose links are slow beside the links without it, where these are three at least: they are
// too many to be beyond a fence of all.
std::vector<std::int64_t> slow_ranks(const std::vector<LinkTimes>&, Slow = Slow::median);

// Of fewer one that is slow moves the upper quartile itself: nobody can say.
constexpr std::size_t fewest_links = 5;

}  // namespace plumb
