#include "harness/select/sample.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "reference/words/text.h"

namespace plumb {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): the n-th number of a seeded sequence.
std::uint64_t mix(std::uint64_t n, std::uint64_t seed) {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A number below `limit`; multiplication instead of a remainder keeps the bias below limit / 2^64.
std::int64_t below(std::int64_t limit, std::uint64_t bits) {
  return static_cast<std::int64_t>(static_cast<unsigned __int128>(bits) * limit >> 64);
}

}  // namespace

std::vector<std::int64_t> sample(std::int64_t total, std::int64_t n, std::uint64_t seed) {
  std::vector<std::int64_t> chosen;
  n = std::min(n, total);
  chosen.reserve(n);
  // Floyd's algorithm: each subset of n is as likely as any other, in n steps.
  std::unordered_set<std::int64_t> seen;
  for (std::int64_t last = total - n; last < total; ++last) {
    std::int64_t one = below(last + 1, mix(last, seed));
    if (!seen.insert(one).second) seen.insert(one = last);
    chosen.push_back(one);
  }
  std::ranges::sort(chosen);
  return chosen;
}

Shard parse_shard(std::string_view text) {
  Shard s{0, 0};
  const char* end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, s.part);
  const bool both = error == std::errc() && slash != end && *slash == '/' &&
                    std::from_chars(slash + 1, end, s.of).ptr == end && slash + 1 != end;
  if (!both || s.part < 1 || s.part > s.of)
    throw bad_input("--shard: expected PART/OF, from 1/OF to OF/OF", text, 0);
  return s;
}

std::vector<std::int64_t> cases_of_shard(const std::vector<std::int64_t>& list, Shard s) {
  std::vector<std::int64_t> part;
  for (std::size_t i = s.part - 1; i < list.size(); i += s.of) part.push_back(list[i]);
  return part;
}

}  // namespace plumb
