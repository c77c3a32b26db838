#include "harness/sweep/condition.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumb {
namespace {

// Marks of meshes, 64 to a word: millions of conditions may have to be tried.
using Bits = std::vector<std::uint64_t>;

Bits packed(const std::vector<bool>& marks) {
  Bits bits((marks.size() + 63) / 64);
  for (std::size_t i = 0; i < marks.size(); ++i) bits[i / 64] |= std::uint64_t{marks[i]} << i % 64;
  return bits;
}

Bits both(Bits a, const Bits& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] &= b[i];
  return a;
}

std::vector<bool> complement(std::vector<bool> a) {
  a.flip();
  return a;
}

struct Choice {
  const Atom* atom;
  Bits holds;
};

// A search for atoms that hold together on exactly the meshes of `here`; each of `from` holds there.
struct Search {
  std::vector<Choice> from;
  Bits here;
  std::vector<const Atom*> chosen;
};

// Adds `size` more to what is chosen, the first of them at or after `begin`. `so_far` is where all of the
// chosen hold.
bool find(Search& search, std::size_t size, const Bits& so_far, std::size_t begin) {
  if (size == 0) return so_far == search.here;
  for (std::size_t i = begin; i < search.from.size(); ++i) {
    Bits next = both(so_far, search.from[i].holds);
    if (next == so_far) continue;  // it adds nothing
    search.chosen.push_back(search.from[i].atom);
    if (find(search, size - 1, next, i + 1)) return true;
    search.chosen.pop_back();
  }
  return false;
}

// What may be chosen from: a conjunction is made of what holds wherever it does; a disjunction of what
// holds only where it does, and is found as the conjunction of the opposites.
struct Searches {
  Search all_of, any_of;
  Bits everywhere;
};

Searches searches(const std::vector<Atom>& atoms, const std::vector<bool>& here, Atom::Kind widest) {
  const std::vector<bool> nowhere = complement(here);
  Searches s{
      {{}, packed(here),    {}},
      {{}, packed(nowhere), {}},
      packed(std::vector<bool>(here.size(), true))
  };
  for (const Atom& atom : atoms) {
    if (atom.kind > widest) continue;
    const Bits holds = packed(atom.holds), fails = packed(complement(atom.holds));
    if (both(s.all_of.here, holds) == s.all_of.here) s.all_of.from.push_back({&atom, holds});
    if (both(s.any_of.here, fails) == s.any_of.here) s.any_of.from.push_back({&atom, fails});
  }
  return s;
}

std::string joined(const Search& search, std::string_view word) {
  std::string text;
  for (const Atom* atom : search.chosen)
    text += fmt::format("{}{}", text.empty() ? "" : fmt::format(" {} ", word), atom->text);
  return text;
}

// The numbers of comparisons to try, and how many of them `or` may join.
struct Lengths {
  std::size_t least, most, most_or;
};

std::optional<std::string> shortest(Searches s, const Lengths& of) {
  for (std::size_t size = of.least; size <= of.most; ++size) {
    if (find(s.all_of, size, s.everywhere, 0)) return joined(s.all_of, "and");
    if (size > 1 && size <= of.most_or && find(s.any_of, size, s.everywhere, 0))
      return joined(s.any_of, "or");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> condition(const std::vector<Atom>& atoms, const std::vector<bool>& here) {
  const Searches bounds = searches(atoms, here, Atom::bound), axes = searches(atoms, here, Atom::axis),
                 all = searches(atoms, here, Atom::relation);
  if (auto words = shortest(axes, {1, 2, 2})) return words;
  if (auto words = shortest(bounds, {3, 4, 0})) return words;
  if (auto words = shortest(all, {1, 2, 2})) return words;
  if (auto words = shortest(axes, {3, 4, 3})) return words;
  return shortest(all, {3, 4, 3});
}

}  // namespace plumb
