#include "harness/trace/atoms.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace plumb {
namespace {

constexpr int most_tries = 4096;

std::int64_t bits_in(const Atoms& set) {
  std::int64_t n = 0;
  for (std::uint64_t word : set) n += std::popcount(word);
  return n;
}

bool within(const Atoms& a, const Atoms& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] & ~b[i]) return false;
  return true;
}

}  // namespace

Atoms atom(std::int64_t i, std::int64_t of) {
  Atoms set((of + 63) / 64);
  set[i / 64] = std::uint64_t{1} << i % 64;
  return set;
}

bool disjoint(const Atoms& a, const Atoms& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] & b[i]) return false;
  return true;
}

Atoms united(const Atoms& a, const Atoms& b) {
  Atoms both = a;
  for (std::size_t i = 0; i < b.size(); ++i) both[i] |= b[i];
  return both;
}

Atoms in_both(const Atoms& a, const Atoms& b) {
  Atoms both = a;
  for (std::size_t i = 0; i < b.size(); ++i) both[i] &= b[i];
  return both;
}

int SetTable::number(const Atoms& set) {
  const auto [at, added] = numbers.emplace(set, static_cast<int>(sets.size()));
  if (added) sets.push_back(set);
  return at->second;
}

void SetTable::join(Family& into, const Family& from) const {
  if (into == from) return;
  Family both;
  std::ranges::set_union(into, from, std::back_inserter(both));
  into = std::move(both);
}

int SetTable::sum(const std::vector<const Family*>& members) {
  Atoms all(sets.front().size());
  std::vector<Family> largest_first;
  for (const Family* member : members) {
    Family& family = largest_first.emplace_back(*member);
    for (int value : family) all = united(all, sets[value]);
    std::ranges::stable_sort(family, std::greater(), [&](int value) { return bits_in(sets[value]); });
  }
  if (idempotent) return number(all);
  const std::int64_t most_there_is = bits_in(all);
  int tries = most_tries;
  Atoms best;
  std::int64_t most = -1;
  const std::function<void(std::size_t, const Atoms&)> add = [&](std::size_t i, const Atoms& so_far) {
    if (i == members.size()) {
      if (const std::int64_t n = bits_in(so_far); n > most) most = n, best = so_far;
      return;
    }
    for (int value : largest_first[i]) {
      if (most == most_there_is || tries-- <= 0) return;
      if (disjoint(so_far, sets[value])) add(i + 1, united(so_far, sets[value]));
    }
  };
  add(0, Atoms(sets.front().size()));
  gave_up = gave_up || tries <= 0;
  return most < 0 ? -1 : number(best);
}

bool SetTable::makes(const Family& family, const Atoms& whole) {
  if (idempotent) {
    Atoms all(whole.size());
    for (int value : family) all = united(all, sets[value]);
    return all == whole;
  }
  int tries = most_tries;
  const std::function<bool(const Atoms&)> covers = [&](const Atoms& so_far) {
    if (so_far == whole) return true;
    std::size_t word = 0;
    while ((whole[word] & ~so_far[word]) == 0) ++word;
    Atoms first(whole.size());
    first[word] = std::uint64_t{1} << std::countr_zero(whole[word] & ~so_far[word]);
    for (int value : family) {
      if (!within(first, sets[value]) || !disjoint(sets[value], so_far)) continue;
      if (tries-- <= 0) return false;
      if (covers(united(so_far, sets[value]))) return true;
    }
    return false;
  };
  const bool made = covers(Atoms(whole.size()));
  gave_up = gave_up || (!made && tries <= 0);
  return made;
}

}  // namespace plumb
