#include "harness/sweep/condition.h"

#include <fmt/format.h>

#include <algorithm>

namespace plumb {
namespace {

using Bits = std::vector<bool>;

bool within(const Bits& a, const Bits& b) {  // a implies b
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] && !b[i]) return false;
  return true;
}

Bits both(Bits a, const Bits& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] && b[i];
  return a;
}

Bits complement(Bits a) {
  a.flip();
  return a;
}

// A search for atoms that hold together on exactly the meshes of `here`; each of `from` holds there.
struct Search {
  const std::vector<const Atom*>& from;
  const Bits& here;
  std::vector<const Atom*> chosen;
};

// Adds `size` more to what is chosen, the first of them at or after `begin`. `so_far` is where all of the
// chosen hold.
bool find(Search& search, std::size_t size, const Bits& so_far, std::size_t begin) {
  if (size == 0) return so_far == search.here;
  for (std::size_t i = begin; i < search.from.size(); ++i) {
    search.chosen.push_back(search.from[i]);
    if (find(search, size - 1, both(so_far, search.from[i]->holds), i + 1)) return true;
    search.chosen.pop_back();
  }
  return false;
}

std::string joined(const std::vector<const Atom*>& atoms, std::string_view word) {
  std::string text;
  for (const Atom* atom : atoms)
    text += fmt::format("{}{}", text.empty() ? "" : fmt::format(" {} ", word), atom->text);
  return text;
}

// What may be chosen from: a conjunction is made of what holds wherever it does; a disjunction of what
// holds only where it does, and is found as the conjunction of the opposites.
struct Choice {
  std::vector<const Atom*> implied, implying;
};

// Conditions of `least` to `most` comparisons.
std::optional<std::string> shortest(const Choice& from, const Bits& here, std::size_t least,
                                    std::size_t most) {
  constexpr std::size_t most_or = 3;
  const Bits nowhere = complement(here), everywhere(here.size(), true);
  Search implied{from.implied, here, {}}, implying{from.implying, nowhere, {}};
  for (std::size_t size = least; size <= most; ++size) {
    if (find(implied, size, everywhere, 0)) return joined(implied.chosen, "and");
    if (size > 1 && size <= most_or && find(implying, size, everywhere, 0))
      return joined(implying.chosen, "or");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> condition(const std::vector<Atom>& atoms, const Bits& here) {
  std::vector<Atom> opposites;
  opposites.reserve(atoms.size());
  Choice plain, all;
  for (const Atom& atom : atoms) {
    if (within(here, atom.holds)) {
      all.implied.push_back(&atom);
      if (atom.plain) plain.implied.push_back(&atom);
    }
    if (within(atom.holds, here)) {
      opposites.push_back({atom.text, complement(atom.holds), atom.plain});
      all.implying.push_back(&opposites.back());
      if (atom.plain) plain.implying.push_back(&opposites.back());
    }
  }
  if (auto words = shortest(plain, here, 1, 2)) return words;
  if (auto words = shortest(all, here, 1, 2)) return words;
  if (auto words = shortest(plain, here, 3, 4)) return words;
  return shortest(all, here, 3, 4);
}

}  // namespace plumb
