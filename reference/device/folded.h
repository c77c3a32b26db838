// What all indices of a work make together: a sum, or the first of which something is so. A loop on this
// processor or, compiled by nvcc, kernels on a card.
#pragma once

#include "reference/device/each_index.h"
#include "reference/device/memory.h"
#ifdef __CUDACC__
#include <new>
#include <vector>
#endif

namespace plumb {

#ifdef __CUDACC__
inline namespace on_card {

// How many pieces an index is cut into: so many that a card is busy, then so few that this processor is not.
constexpr std::int64_t kManyPieces = 1 << 18, kFewPieces = 1 << 12;

// Words in the card's memory for what pieces find, as long as the process: of one fold at a time, on the null
// stream. std::bad_alloc where the card has none left.
inline std::uint64_t* scratch() {
  static const auto made = [] {
    std::byte* memory = allocate_there((kManyPieces + kFewPieces) * sizeof(std::uint64_t));
    if (!memory) throw std::bad_alloc();
    return reinterpret_cast<std::uint64_t*>(memory);
  }();
  return made;
}

// What every `pieces`-th index from one on makes together.
template <class Fold>
struct FoldedPiece {
  Fold fold;
  std::int64_t count, pieces;
  std::uint64_t* found;
  constexpr void operator()(std::int64_t piece) const { found[piece] = fold(piece, pieces, count); }
};

// The same of what pieces have found.
template <class Fold>
struct FoldedFound {
  const std::uint64_t* before;
  std::int64_t count, pieces;
  std::uint64_t* found;
  constexpr void operator()(std::int64_t piece) const {
    std::uint64_t all = before[piece];
    for (std::int64_t i = piece + pieces; i < count; i += pieces) all = Fold::both(all, before[i]);
    found[piece] = all;
  }
};

// No atomics: a word that all threads of a card add to takes them one after another.
template <class Fold>
std::uint64_t folded(std::int64_t count, const Fold& fold) {
  const std::int64_t many = std::min(count, kManyPieces), few = std::min(many, kFewPieces);
  std::uint64_t *found = scratch(), *last = found + kManyPieces;
  std::vector<std::uint64_t> here(few);
  for_each_index(many, FoldedPiece<Fold>{fold, count, many, found});
  for_each_index(few, FoldedFound<Fold>{found, many, few, last});
  check_cuda(cudaMemcpy(here.data(), last, few * sizeof here[0], cudaMemcpyDeviceToHost), "a kernel");
  std::uint64_t all = here[0];
  for (std::int64_t i = 1; i < few; ++i) all = Fold::both(all, here[i]);
  return all;
}

template <class Is>
struct FirstOf {
  Is is;
  constexpr std::uint64_t operator()(std::int64_t piece, std::int64_t pieces, std::int64_t count) const {
    for (std::int64_t i = piece; i < count; i += pieces)
      if (is(i)) return static_cast<std::uint64_t>(i);
    return static_cast<std::uint64_t>(count);
  }
  static constexpr std::uint64_t both(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
};

template <class Is>
std::int64_t first_index(std::int64_t count, const Is& is) {
  return count == 0 ? 0 : static_cast<std::int64_t>(folded(count, FirstOf<Is>{is}));
}

template <class Term>
struct SumOf {
  Term term;
  constexpr std::uint64_t operator()(std::int64_t piece, std::int64_t pieces, std::int64_t count) const {
    std::uint64_t all = 0;
    for (std::int64_t i = piece; i < count; i += pieces) all += term(i);
    return all;
  }
  static constexpr std::uint64_t both(std::uint64_t a, std::uint64_t b) { return a + b; }
};

template <class Term>
std::uint64_t sum_over(std::int64_t count, const Term& term) {
  return count == 0 ? 0 : folded(count, SumOf<Term>{term});
}

}  // namespace on_card
#else
inline namespace here {

// The first index for which it is so; count where there is none.
template <class Is>
std::int64_t first_index(std::int64_t count, const Is& is) {
  for (std::int64_t i = 0; i < count; ++i)
    if (is(i)) return i;
  return count;
}

// Modulo 2^64, in any order.
template <class Term>
std::uint64_t sum_over(std::int64_t count, const Term& term) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += term(i);
  return sum;
}

}  // namespace here
#endif

}  // namespace plumb
