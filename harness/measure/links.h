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

// A link, and what it took in nanoseconds, time after time.
struct LinkTimes {
  RankPair link;
  std::vector<double> nanoseconds;
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

// Which of a link's times has to be slow: all of the 95 % interval of its median, or, where ranks share cores and an
// iteration also waits for one, even the quickest.
enum class Slow : std::uint8_t { median, quickest };

// The links that are slower than what others show by chance: that lies beyond Tukey's fence of all medians, the
// upper quartile and one and a half times the range between both, and more than 2 % beyond the upper quartile.
std::vector<RankPair> slow_links(const std::vector<LinkTimes>&, Slow = Slow::median);

// The ranks all of whose links lie as far beyond such a fence of the links without it, where these are three at
// least: they are too many to be beyond a fence of all.
std::vector<std::int64_t> slow_ranks(const std::vector<LinkTimes>&, Slow = Slow::median);

// Of fewer one that is slow moves the upper quartile itself: nobody can say.
constexpr std::size_t fewest_links = 5;

}  // namespace plumb
