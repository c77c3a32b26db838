// The family of plans among which the best known one of a product is sought.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// The dimensions of both operands and the result, a letter each: "mk","kn","mn".
using Words = std::array<std::string, 3>;
Words words(const Op&);

// How the work of a product is dealt out: the axes that split each letter, major to minor. The letters
// '0' and '1' are the parts of an unfinished operand. An axis that splits none repeats the work.
struct Split {
  std::string letters;
  std::vector<std::vector<AxisId>> axes;
  const std::vector<AxisId>& of(char letter) const { return axes[letters.find(letter)]; }
  bool operator==(const Split&) const = default;
};

// Each axis splits a letter that it splits in an operand or the result, or any of a free result, or none.
// Where several axes split a letter they stand in the order of one of the three specs. None where there are
// more than most_splits, orders apart: they multiply with every axis.
constexpr std::size_t most_splits = 20'000;
std::vector<Split> splits(const Case&, const Words&);
std::string print(const Mesh&, const Split&);

// The layout that operand 0 or 1 needs for the split, and the one in which the result (2) comes: its
// sum unfinished over the axes that split letters it lacks.
Spec layout(const Case&, const Words&, const Split&, int which);

// Bytes received over all devices by a plan: of each operand, of the result.
struct Moved {
  std::int64_t operands[2] = {}, result = 0;
  std::int64_t all() const { return operands[0] + operands[1] + result; }
};
Moved moved_in_einsum(const Case&, const Words&, const Split&);

}  // namespace plumb
