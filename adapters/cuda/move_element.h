// One element of a round, made of those of its sources.
#pragma once

#include "adapters/cuda/work.h"
#include "reference/device/element_at.h"

namespace plumb::cuda {

// The parts of an element, of which each lies at another source.
struct Parts {
  const Moves& moves;
  const Piece& piece;
  std::int64_t element;  // of the piece

  constexpr std::int64_t offset(std::int64_t place) const {  // 0 is the receiver
    const std::int64_t* sizes = moves.numbers + piece.at;
    const std::int64_t* steps = sizes + piece.dims + place * (piece.dims + 1);
    std::int64_t at = steps[0], left = element;
    for (int d = piece.dims; d-- > 0;) {
      const Divided by = divided(left, sizes[d]);
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

struct MoveElement {
  Moves moves;
  int width;

  constexpr void operator()(std::int64_t i) const {
    const Piece& piece = part_of(moves.pieces, moves.count, i);
    const Parts parts{moves, piece, i - piece.first};
    std::byte* to = moves.to + parts.offset(0);
    if (moves.meeting == Meeting::copy) {
      const std::byte* from = moves.from + parts.offset(1);
      if (width == sizeof(Word16)) return put_word<Word16>(to, word_at<Word16>(from));
      return with_word(width, [&]<class Word>() { put_word<Word>(to, word_at<Word>(from)); });
    }
    put_value(moves.stored, to,
              moves.order == Order::direct ? one_after_another(parts)
              : moves.order == Order::ring ? round_a_ring(parts)
                                           : in_pairs(parts));
  }
};

constexpr MoveElement element_of(const Moves& m) { return {m, m.word ? m.word : width_of(m.stored)}; }

}  // namespace plumb::cuda
