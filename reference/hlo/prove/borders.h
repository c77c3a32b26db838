// Where comparisons of integers turn: `x < 16` between 15 and 16.
#pragma once

#include <map>
#include <set>

#include "reference/hlo/prove/bounds.h"
#include "reference/hlo/prove/origin.h"
#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// For each parameter what it is on both sides of where something turns, the other parameters being zero.
using Borders = std::vector<Integers>;

// Of a comparison, a minimum, a maximum, a clamp, a sign, a division or a remainder of integers; where some
// sides are `met`, of the others.
void add_borders(Borders&, const Followed&, const Paths* met = nullptr);

// Those of them that are drawn of a parameter, ascending: what indexes stays below what it indexes, what has
// a range within it.
Integers within(const Bounds&, const Shape&, const Integers& borders);

// The columns of what is compared, where they come from elsewhere one by one (origin.h).
struct Columns {
  std::int64_t along = 0, count = 1;
};

// The comparisons of integers of a module that some parameter is read for, and divisions, minima, maxima,
// clamps and signs of them. `note` adds to `paths` which sides of its border one was on: of column k 8k + 2
// just below, 8k + 3 just above, of those that are no comparison 8k + 4 on it, and three more of a clamp's
// upper end; of equality 8k + 2, where it holds. A sum is one number, and so is what it decides about: where
// that may be zero (`zeros`) it is not met.
struct Turns {
  Pause pause;  // while the module is followed
  std::map<const Instruction*, Columns> all{};
  std::set<const Instruction*> of_sums{};
  void note(const Instruction&, const std::vector<Value<Twin>>& operands, Paths& paths, bool zeros) const;
};
Turns turns_of(const Module&, const std::set<const Instruction*>& free_of_parameters, const Pause&);

// What parameters are where comparisons turn; `ends`: those alone that turn elsewhere on each device, or in
// each column, at the ends of shards.
enum class Which : std::uint8_t { all, ends };
Borders borders_of(const Module&, const std::vector<Bounds>&, const Turns&, Which);

// Arrays of integers of one shape of which a predicate is made together: `(pos < 700) & (seg == 3)`.
std::set<std::pair<std::size_t, std::size_t>> masked_together(const Module&, const Pause&);

// What of these no draw met, but for what lies outside of what is drawn, and what parameters would have to be
// for it.
struct Unmet {
  std::vector<std::string> names;
  Borders borders;
  std::set<std::size_t> summed{};  // parameters of which a sum is compared
};
Unmet unmet(const Module&, const std::vector<Bounds>&, const Turns&, const Paths&);

// Integers of more draws, where comparisons turn that none has brought there: of an array all at once,
// several times; of a single one each in its turn, and zero. What is summed is drawn below half of what it
// may be, then a quarter.
struct Placing {
  explicit Placing(const Module&);
  // Puts them there; whether any is still to be tried.
  bool place(std::vector<Bounds>&, const Unmet& wanted);

  std::vector<Shape> shapes;      // of the parameters
  std::vector<int> times;         // arrays were tried, and nothing came of it
  std::vector<std::size_t> open;  // so many numbers of each were still wanted
  std::vector<std::set<std::int64_t>> singles;
  int halved = 0;
};

}  // namespace plumb::hlo
