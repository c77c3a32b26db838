// One element of a round, made of those of its sources.
#pragma once

#include "adapters/cuda/work.h"
#include "reference/device/element_at.h"

namespace plumb::cuda {

// Of the places of a piece, 0 is the receiver.
constexpr const std::int64_t* place(const Moves& moves, const Piece& piece, std::int64_t k) {
  return moves.numbers + piece.at + piece.dims + k * (piece.dims + 1);
}
template <bool narrow>
constexpr Divided index_of(const Moves& moves, const Piece& piece, int d, std::int64_t left) {
  const std::int64_t* size = moves.numbers + piece.at + d;
  if constexpr (!narrow) return divided(left, *size);
  const std::int64_t times = quotient(left, std::bit_cast<Inverse>(size[-piece.dims]));
  return {times, left - times * *size};
}
constexpr const Piece& piece_of(const Moves& moves, std::int64_t i) {
  return moves.each > 0 ? moves.pieces[quotient(i, moves.by_each)] : part_of(moves.pieces, moves.count, i);
}

// The parts of an element, of which each lies at another source.
struct Parts {
  const Moves& moves;
  const Piece& piece;
  std::int64_t element;  // of the piece

  constexpr std::int64_t offset(std::int64_t k) const {
    const std::int64_t* steps = place(moves, piece, k);
    std::int64_t at = steps[0], left = element;
    for (int d = piece.dims; d-- > 0;) {
      const Divided by =
          moves.narrow ? index_of<true>(moves, piece, d, left) : index_of<false>(moves, piece, d, left);
      at += by.rest * steps[d + 1], left = by.times;
    }
    return at;
  }
  constexpr double operator[](std::int64_t k) const {
    return value_at(moves.stored, moves.from + offset(1 + k));
  }
  constexpr double sent(double value) const {
    return moves.wire == moves.stored ? value : once_rounded(moves.wire, value);
  }
  constexpr double met(double a, double b) const {
    if (moves.meeting == Meeting::add) return once_rounded(moves.stored, a + b);
    return b != b || (moves.meeting == Meeting::larger ? b > a : b < a) ? b : a;
  }
  constexpr std::int64_t all() const {
    std::int64_t n = 1;
    for (int d = 0; d < piece.dims; ++d) n *= moves.numbers[piece.at + d];
    return n;
  }
};

constexpr double one_after_another(const Parts& parts) {
  const int own = parts.piece.own;
  double sum = own < 0 ? parts.sent(parts[0]) : parts[own];
  for (int k = own < 0 ? 1 : 0; k < parts.piece.sources; ++k)
    if (k != own) sum = parts.met(sum, parts.sent(parts[k]));
  return sum;
}

// Ends at the receiver's own part, or where all receive, at another for each share of the elements, as a ring
// of shares does.
constexpr double round_a_ring(const Parts& parts) {
  const std::int64_t n = parts.piece.sources;
  const std::int64_t last = parts.piece.own >= 0 ? parts.piece.own : parts.element * n / parts.all();
  double sum = parts[(last + 1) % n];
  for (std::int64_t k = 2; k <= n; ++k) sum = parts.met(parts[(last + k) % n], parts.sent(sum));
  return sum;
}

constexpr double in_pairs(const Parts& parts) {
  double held[32] = {};  // sums of 2^level parts each, the largest first
  int top = 0;
  for (int k = 0; k < parts.piece.sources; ++k) {
    double sum = parts[k];
    for (int pairs = k; pairs % 2 == 1; pairs /= 2) sum = parts.met(held[--top], parts.sent(sum));
    held[top++] = sum;
  }
  for (; top > 1; --top) held[top - 2] = parts.met(held[top - 2], parts.sent(held[top - 1]));
  return held[0];
}

// A copy of a word. What many copies hold before the first of them is put does not change: none is made of a
// word that another one makes.
template <class Word, bool narrow>
struct CopiedWord {
  Moves moves;

  struct Held {
    std::byte* to;
    Word word;
  };
  constexpr Held held(std::int64_t i) const {
    const Piece& piece = piece_of(moves, i);
    const std::int64_t *to = place(moves, piece, 0), *from = place(moves, piece, 1);
    std::int64_t to_at = to[0], from_at = from[0], left = i - piece.first;
    PLUMB_ROLLED
    for (int d = piece.dims; d-- > 0;) {
      const Divided by = index_of<narrow>(moves, piece, d, left);
      to_at += by.rest * to[d + 1], from_at += by.rest * from[d + 1], left = by.times;
    }
    return {moves.to + to_at, word_at<Word>(moves.from + from_at)};
  }
  static constexpr void put(const Held& held) { put_word<Word>(held.to, held.word); }
  constexpr void operator()(std::int64_t i) const { put(held(i)); }
};

struct MoveElement {
  Moves moves;

  constexpr void operator()(std::int64_t i) const {
    const Piece& piece = piece_of(moves, i);
    const Parts parts{moves, piece, i - piece.first};
    put_value(moves.stored, moves.to + parts.offset(0),
              moves.order == Order::direct ? one_after_another(parts)
              : moves.order == Order::ring ? round_a_ring(parts)
                                           : in_pairs(parts));
  }
};

// run(work) for what becomes of each element.
template <class Run>
constexpr void with_moves(const Moves& moves, Run&& run) {
  if (moves.meeting != Meeting::copy) return run(MoveElement{moves});
  const int width = moves.word ? moves.word : width_of(moves.stored);
  const auto copies = [&]<class Word>() {
    moves.narrow ? run(CopiedWord<Word, true>{moves}) : run(CopiedWord<Word, false>{moves});
  };
  if (width == sizeof(Word16)) return copies.template operator()<Word16>();
  with_word(width, copies);
}

}  // namespace plumb::cuda
