// The dimensions of a product by letter.
#pragma once

#include <string>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// One letter per dimension; those of a grouped matmul are its own (tk,gkn->tn). Empty for a reshard.
struct Letters {
  std::string operand[2], out;
};
Letters letters(const Op&);

// The letters that are summed, in the order of the left operand: what the judge, the data and the cuts
// mean by "contracted letter 0, 1, ...".
std::string contracted(const Op&);

// The dimensions of an operand that are summed, in the order of contracted().
std::vector<int> contracted_dims(const Op&, int operand);

// Where the contracted index of a product is cut: ascending positions 0 = c0 < c1 < ... < cn = K of the
// common refinement of both operands' splits, one list for each letter of contracted()
// (einsum: blocks are boxes; grouped wgrad: positions of rows, cut also where groups begin and end). K = 0
// gives {0}. A product that contracts nothing and a reshard have no lists.
std::vector<std::vector<std::int64_t>> contracted_cuts(const Case&);

}  // namespace plumb
