// The cancelling data of a product: which terms cancel which, and how large they may be.
//
// The contracted index is cut into blocks (contracted_cuts). Inside a block its positions are matched at
// random in pairs, the last three in a triple where their number is odd, and in a pair (k, k')
//
//   plain[., k'] = plain[., k]        perturbed[k', .] = -perturbed[k, .]
//
// so that its terms cancel; a triple has weights 1, 1, -2. For each column of the perturbed operand one
// pair or triple of each block, drawn at random, does not cancel: one member is larger by one unit. The
// block then adds to the result that element of the plain operand, up to its sign: never zero, small, and
// gone or changed when any term of the block is lost. A block of one term is that product.
//
// The more terms, the shorter each. So that narrow arithmetic shows however many there are, one block of each
// cell, drawn, has two pairs of long terms (Long).
#pragma once

#include <cstdint>
#include <vector>

#include "reference/fill/shares.h"
#include "reference/fill/unit.h"
#include "reference/words/op.h"

namespace plumb {

// What an index along a dimension of an operand means. The batch letters, or the group, are the cell:
// each has its own matchings. The letters of this operand and the result alone are free.
struct DimRole {
  std::int64_t cell = 0, free = 0;  // what one step adds to the cell and to the free index
  int contracted = -1;              // which contracted letter this is
  bool rows = false;                // rows of a grouped matmul: a Stretch knows their cell
};

// Consecutive rows of a grouped matmul that lie in one group and, where rows are contracted, one block.
struct Stretch {
  Range rows;
  std::int64_t cell = 0;  // the group; -1 for a tail, which belongs to none
  std::int64_t block = 0;
};

// How many blocks the fullest cell has, the weight of its terms, how many blocks are more than a term, and
// how many pairs and triples these have; of the latter the emptiest cell that has some. The pairs beside a
// triple of the block that has fewest of them, but two; 0 where there is none.
struct Load {
  std::int64_t blocks = 0, weight = 0, matched = 0, pairs = 0, two_pairs = 0;
};

// Magnitudes of long terms, odd and at least three quarters of what stands here; 0 where there are none. Pair
// 0 of the block is long in the perturbed operand, for every other column, and pair 1 in the plain one, for
// the others: for the first it is zero. The factor of the other operand is `with` it.
//   alone    the wire carries what the accumulator does: one member is long, the other short, and the
//            result is about as large as the accumulator's largest
//   else     both are long and cancel, but for one unit more in the second: the factor with it is left
// Where elements have few bits such terms are short of the accumulator's, and more pairs pile up: of each the
// member that comes first has the sign that all others have, and the second takes it away.
struct Long {
  std::int64_t plain = 0, with_plain = 0, perturbed = 0, with_perturbed = 0;
  std::int64_t piled = 0, piled_plain = 0, piled_perturbed = 0;  // how many pairs, and their factors
  std::int64_t units = 1;  // by which another pair of the block does not cancel: odd sums remain odd
  bool alone = false;
};

// The least of the long magnitudes of which the largest is `most`, odd.
constexpr std::int64_t least_long(std::int64_t most) { return (most - most / 4) | 1; }

// The budgets. Magnitudes of a term's two factors, by its class: pairs take turns in being wide in the
// perturbed or in the plain operand (so that a backend that narrows its inputs is seen in either); the
// third class is a block of one term. The parts of an unfinished operand share a magnitude.
struct ProductBudget {
  Unit unit;
  bool exists = true;
  Shares plain[3], perturbed[3];
  std::int64_t units = 1;          // how many parts of the perturbed operand get a unit more
  std::int64_t active_blocks = 0;  // blocks that add something; a rotating subset where there are more
  bool narrow = false;  // only pairs narrow in the plain operand add something: the others may be wider
  std::int64_t active_pairs = 0;  // of each block and column: 0 for all, else the others are zero
  std::int64_t terms = 0;         // at most this, in units: the sum of |a b| over all terms of an element
  std::int64_t carried = 0;       // and of the absolute sums of its blocks
  // What a backend must keep: the significant bits of each operand's elements, 0 of one in parts, and of a
  // term. With fewer results change. 0 for all where the data are thin, or the result has few columns
  // (product_budget.cc).
  int plain_bits = 0, perturbed_bits = 0, term_bits = 0;
  Long lengths;
};

struct Product {
  std::vector<DimRole> roles[2];                // by operand and dimension
  std::vector<std::vector<std::int64_t>> cuts;  // contracted_cuts()
  std::vector<std::int64_t> blocks_of_cell;     // one for all where they do not differ
  std::vector<std::int64_t> long_block;         // likewise: the one with long terms, or -1
  std::vector<Stretch> stretches;               // all rows of a grouped matmul, in order
  int perturbed = 1;                            // the operand
  ProductBudget budget;
};
Product product_data(const Case&);

// The matching of a block of `volume` terms: term j is number (step * j + shift) mod volume, and the
// numbers 2i and 2i + 1 are pair i. Partners lie a quarter to three quarters of the block apart.
struct Matching {
  std::int64_t cell = -1, volume = 0, step = 1, shift = 0;
  std::int64_t distance = 1;  // from number 2i to 2i + 1, modulo the volume
};
Matching matching(std::int64_t volume, std::uint64_t random);

}  // namespace plumb
