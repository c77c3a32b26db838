// The operands of products, as a formula of an element's place in a slice: for this processor and for a card,
// which has the tables in its own memory.
#pragma once

#include <optional>
#include <vector>

#include "reference/fill/recipe.h"
#include "reference/fill/term_at.h"

namespace plumb {

struct ProductAt {
  static constexpr int kMost = 8;
  struct Dim {
    Range range;
    DimRole role;
  };
  struct Cuts {  // of a contracted letter, among the numbers
    std::int64_t first = 0, count = 0;
  };
  TermsAt terms;
  int dims = 0, letters = 0;
  Dim dim[kMost];
  Cuts cuts[kMost];
  std::int64_t blocks = 1;  // of the fullest cell
  const std::int64_t* numbers = nullptr;
  const Stretch* stretches = nullptr;
  std::int64_t stretch_count = 0;
  const Matching* matchings = nullptr;  // by cell and block

  // Where a coordinate stands in the cuts of its letter.
  struct Locus {
    std::int64_t block = 0, size = 1, term = 0;
  };
  constexpr Locus locus(const Cuts& c, std::int64_t at) const {
    const std::int64_t* cut = numbers + c.first;
    std::int64_t low = 0;
    for (std::int64_t high = c.count - 1; high - low > 1;) {
      const std::int64_t middle = low + (high - low) / 2;
      (cut[middle] <= at ? low : high) = middle;
    }
    return {low, cut[low + 1] - cut[low], at - cut[low]};
  }
  constexpr const Stretch& stretch(std::int64_t row) const {
    std::int64_t low = 0;
    for (std::int64_t high = stretch_count; high - low > 1;) {
      const std::int64_t middle = low + (high - low) / 2;
      (stretches[middle].rows.begin <= row ? low : high) = middle;
    }
    return stretches[low];
  }

  // Of the element of the dense slice with this number.
  constexpr double value(std::int64_t i) const {
    Locus loci[kMost];
    Spot spot;
    std::int64_t row = 0, last = 0;
    for (int d = dims; d-- > 0;) {
      const Divided by = divided(i, dim[d].range.size());
      const std::int64_t at = dim[d].range.begin + by.rest;
      i = by.times;
      const DimRole& role = dim[d].role;
      if (d == dims - 1) last = at;
      spot.free += role.free * at;
      if (role.rows) {
        const Stretch& s = stretch(at);
        row = at, spot.cell = s.cell;
        if (role.contracted >= 0) loci[0] = {s.block, s.rows.size(), at - s.rows.begin};
      } else {
        spot.cell += role.cell * at;
        if (role.contracted >= 0) loci[role.contracted] = locus(cuts[role.contracted], at);
      }
    }
    if (spot.cell < 0) return tail_at(terms, row, last);
    for (int l = 0; l < letters; ++l) {
      spot.block = spot.block * (cuts[l].count - 1) + loci[l].block;
      spot.term = spot.term * loci[l].size + loci[l].term;
      spot.volume *= loci[l].size;
    }
    const Matching& m = matchings[spot.cell * blocks + spot.block];
    spot.distance = m.distance;
    return term_at(terms, spot, number_at(m, spot.term));
  }
};

// A portion of an operand of a product, and the tables of its formula, which point nowhere yet.
struct ProductTables {
  ProductAt at;
  std::vector<std::int64_t> numbers;
  std::vector<Stretch> stretches;
  std::vector<Matching> matchings;
  // The formula, once they lie somewhere.
  ProductAt lying(const std::int64_t* numbers, const Stretch*, const Matching*) const;
};

// Nothing where it is no such data, or the tables would be too many.
std::optional<ProductTables> product_tables(const Recipe&, const Portion&);

}  // namespace plumb
