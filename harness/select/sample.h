// Seeded choices that are the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace plumb {

// `n` of 0 .. total-1 (all of them where there are no more), ascending.
std::vector<std::int64_t> sample(std::int64_t total, std::int64_t n, std::uint64_t seed);

// "2/4": the second of four parts. Law: the parts of a list are disjoint and together the list.
struct Shard {
  std::int64_t part = 1, of = 1;
};
Shard parse_shard(std::string_view text);  // throws BadInput
std::vector<std::int64_t> cases_of_shard(const std::vector<std::int64_t>& list, Shard);

}  // namespace plumb
