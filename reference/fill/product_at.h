// The operands of products, as a formula of an element's place in a slice: for this processor and for a card,
// which has the tables in its own memory.
#pragma once

#include <optional>
#include <vector>

#include "reference/fill/recipe.h"
#include "reference/fill/term_at.h"
#include "reference/words/clones.h"

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

  // Where the element of the dense slice with this number stands.
  struct Place {
    Spot spot;  // its term in the block, by all letters
    Locus loci[kMost];
    std::int64_t row = 0, last = 0;  // the row of a grouped product, the index along the last dimension
  };
  constexpr Place place(std::int64_t i) const {
    Place p;
    for (int d = dims; d-- > 0;) {
      const Divided by = divided(i, dim[d].range.size());
      const std::int64_t at = dim[d].range.begin + by.rest;
      i = by.times;
      const DimRole& role = dim[d].role;
      if (d == dims - 1) p.last = at;
      p.spot.free += role.free * at;
      if (role.rows) {
        const Stretch& s = stretch(at);
        p.row = at, p.spot.cell = s.cell;
        if (role.contracted >= 0) p.loci[0] = {s.block, s.rows.size(), at - s.rows.begin};
      } else {
        p.spot.cell += role.cell * at;
        if (role.contracted >= 0) p.loci[role.contracted] = locus(cuts[role.contracted], at);
      }
    }
    for (int l = 0; p.spot.cell >= 0 && l < letters; ++l) {
      p.spot.block = p.spot.block * (cuts[l].count - 1) + p.loci[l].block;
      p.spot.term = p.spot.term * p.loci[l].size + p.loci[l].term;
      p.spot.volume *= p.loci[l].size;
    }
    return p;
  }
  constexpr const Matching& matching_of(const Spot& spot) const {
    return matchings[spot.cell * blocks + spot.block];
  }

  constexpr double value(std::int64_t i) const {
    Place p = place(i);
    if (p.spot.cell < 0) return tail_at(terms, p.row, p.last);
    const Matching& m = matching_of(p.spot);
    p.spot.distance = m.distance;
    return term_at(terms, p.spot, number_at(m, p.spot.term));
  }

  // put(k, the value of element i + k) of so many neighbours along the last dimension, which ends no earlier.
  // What they have in common is worked out once.
  template <class Put>
  constexpr void run(std::int64_t i, int count, Put&& put) const {
    const Place p = place(i);
    if (!in_one_block(p, count)) {
      PLUMB_ROLLED
      for (int k = 0; k < count; ++k) put(k, value(i + k));
    } else if (p.spot.cell < 0) {
      PLUMB_ROLLED
      for (int k = 0; k < count; ++k) put(k, tail_at(terms, p.row, p.last + k));
    } else {
      run_in_block(p, count, put);
    }
  }
  // Neighbours in one cell and one block, or in one row of none.
  constexpr bool in_one_block(const Place& p, int count) const {
    if (dims == 0) return count == 1;
    const DimRole& role = dim[dims - 1].role;
    if (role.rows || role.cell != 0) return count == 1;
    if (role.contracted < 0) return true;
    const Locus& at = p.loci[role.contracted];
    return at.term + count <= at.size;
  }
  template <class Put>
  constexpr void run_in_block(const Place& p, int count, Put&& put) const {
    const DimRole& role = dim[dims - 1].role;
    Spot spot = p.spot;
    const Matching& m = matching_of(spot);
    spot.distance = m.distance;
    std::int64_t step = role.contracted < 0 ? 0 : 1;
    for (int l = role.contracted + 1; step > 0 && l < letters; ++l) step *= p.loci[l].size;
    const std::int64_t next = step > 0 ? product_mod(m.step, step, m.volume) : 0;
    const Column common = terms.perturbed && role.free == 0 ? column(terms, spot, spot.free) : Column{};
    std::int64_t number = number_at(m, spot.term);
    PLUMB_ROLLED
    for (int k = 0; k < count; ++k) {
      const Member one = member(spot.volume, number);
      const bool own = role.free != 0 && asks_column(terms, spot, one);
      put(k, term_of(terms, spot, one, own ? column(terms, spot, spot.free) : common));
      spot.free += role.free, spot.term += step;
      number += next, number -= number < m.volume ? 0 : m.volume;
    }
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
