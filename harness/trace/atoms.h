// Sets of atoms: the parts or terms that a value is the sum of.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace plumb {

using Atoms = std::vector<std::uint64_t>;  // a bit for each

Atoms atom(std::int64_t i, std::int64_t of);
bool disjoint(const Atoms&, const Atoms&);
Atoms united(const Atoms&, const Atoms&);
Atoms in_both(const Atoms&, const Atoms&);

// What a device holds of one element: values that may be added up, each by its number in a table. Sorted.
using Family = std::vector<int>;

// Each set has one number: equal numbers are equal sets.
struct SetTable {
  std::vector<Atoms> sets;
  std::map<Atoms, int> numbers;
  bool idempotent = false;  // of a maximum or minimum: an atom may be taken twice
  bool gave_up = false;     // a search of 4,096 tries: what was not found then may be there

  int number(const Atoms&);
  void join(Family& into, const Family& from) const;
  // The number of the sum of one value of each member, in which no atom is twice; -1 where there is none.
  // Of several the one of the most atoms, as far as the tries find it.
  int sum(const std::vector<const Family*>& members);
  // Whether values of the family make the whole, each atom once.
  bool makes(const Family&, const Atoms& whole);
};

}  // namespace plumb
