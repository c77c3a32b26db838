#include "adapters/cuda/boxes.h"

#include <algorithm>

#include "reference/device/element_at.h"

namespace plumb::cuda {
namespace {

struct Tables {
  std::vector<Piece> pieces;
  std::vector<std::int64_t> numbers;
  std::int64_t elements = 0;
  int word = 0;  // bytes
};

// Dimensions that lie one within the other without a gap at every place are one; those of size 1 are none.
std::vector<std::int64_t> join_dims(const std::int64_t* box, std::vector<Place>& places) {
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::int64_t>> steps(places.size());
  for (std::size_t d = 0; d < places[0].steps.size(); ++d) {
    const std::int64_t size = box[2 * d + 1] - box[2 * d];
    if (size == 1) continue;
    bool within = !sizes.empty();
    for (std::size_t p = 0; p < places.size() && within; ++p)
      within = steps[p].back() == size * places[p].steps[d];
    if (!within) sizes.push_back(1);
    sizes.back() *= size;
    for (std::size_t p = 0; p < places.size(); ++p) {
      if (!within) steps[p].push_back(0);
      steps[p].back() = places[p].steps[d];
    }
  }
  for (std::size_t p = 0; p < places.size(); ++p) places[p].steps = steps[p];
  return sizes;
}

// The largest word in which a piece can be copied: all of its runs, and what is between them, are so many of
// it.
int word_of(const Tables& t, const Piece& p, int width) {
  const std::int64_t *sizes = t.numbers.data() + p.at, *places = sizes + p.dims;
  std::int64_t bits = 16;
  if (p.dims > 0) bits |= sizes[p.dims - 1] * width;
  for (int i = 0; i <= p.sources; ++i) {
    const std::int64_t* steps = places + i * (p.dims + 1);
    if (p.dims > 0 && steps[p.dims] != width) return width;
    for (int d = 0; d < p.dims; ++d) bits |= steps[d];  // the offset, and every step but the last
  }
  return p.dims > 0 ? static_cast<int>(bits & -bits) : width;
}

// Copies know no values: they move as many bytes at once as all pieces allow.
void widen(Tables& t, int width) {
  t.word = sizeof(Word16);
  for (const Piece& p : t.pieces) t.word = std::min(t.word, word_of(t, p, width));
  t.word = std::max(t.word, width);
  if (t.word == width) return;
  t.elements = 0;
  for (Piece& p : t.pieces) {
    std::int64_t* sizes = t.numbers.data() + p.at;
    sizes[p.dims - 1] = sizes[p.dims - 1] * width / t.word;
    for (int i = 0; i <= p.sources; ++i) sizes[p.dims + i * (p.dims + 1) + p.dims] = t.word;
    p.first = t.elements;
    std::int64_t n = 1;
    for (int d = 0; d < p.dims; ++d) n *= sizes[d];
    t.elements += n;
  }
}

std::int64_t end_of(const Tables& t, std::size_t piece) {
  return piece + 1 < t.pieces.size() ? t.pieces[piece + 1].first : t.elements;
}

// Inverses of what elements are divided by.
void invert(Tables& t, Moves& moves) {
  moves.narrow = t.elements < kNarrow;
  if (!moves.narrow || t.pieces.empty()) return;
  for (const Piece& p : t.pieces)
    for (std::int64_t d = p.at; d < p.at + p.dims; ++d)
      t.numbers[d - p.dims] = std::bit_cast<std::int64_t>(inverse_of(t.numbers[d]));
  const std::int64_t each = end_of(t, 0);
  for (std::size_t i = 0; i < t.pieces.size(); ++i)
    if (end_of(t, i) - t.pieces[i].first != each) return;
  moves.each = each, moves.by_each = inverse_of(each);
}

Tables tables(std::span<const BoxMove> moves) {
  Tables t;
  for (const BoxMove& move : moves) {
    std::vector<Place> places = move.places;
    std::int64_t n = 1;
    for (std::size_t d = 0; d < places[0].steps.size(); ++d) n *= move.box[2 * d + 1] - move.box[2 * d];
    if (n == 0) continue;
    const std::vector<std::int64_t> sizes = join_dims(move.box, places);
    t.numbers.resize(t.numbers.size() + sizes.size());  // of their inverses
    t.pieces.push_back({t.elements, std::ssize(t.numbers), static_cast<std::int32_t>(sizes.size()),
                        static_cast<std::int32_t>(places.size() - 1), move.own});
    t.elements += n;
    t.numbers.insert(t.numbers.end(), sizes.begin(), sizes.end());
    for (const Place& place : places) {
      t.numbers.push_back(place.offset);
      t.numbers.insert(t.numbers.end(), place.steps.begin(), place.steps.end());
    }
  }
  return t;
}

}  // namespace

Place place_of(const Blocks& blocks, std::int64_t device, const std::int64_t* box) {
  const std::int64_t* block = blocks.box(device);
  Place place{blocks.block(device) - blocks.memory.get(), std::vector<std::int64_t>(blocks.rank())};
  std::int64_t step = format(blocks.stored).bytes;
  for (int d = blocks.rank(); d-- > 0; step *= block[2 * d + 1] - block[2 * d]) {
    place.steps[d] = step;
    place.offset += (box[2 * d] - block[2 * d]) * step;
  }
  return place;
}

Place place_alone(const std::int64_t* box, int rank, std::int64_t width) {
  Place place{0, std::vector<std::int64_t>(rank)};
  for (int d = rank; d-- > 0; width *= box[2 * d + 1] - box[2 * d]) place.steps[d] = width;
  return place;
}

Meeting meeting(const Combine& combine) {
  if (combine.run == copying(combine.acc).run) return Meeting::copy;
  if (combine.run == taking(Reduce::max, combine.acc, combine.wire).run) return Meeting::larger;
  if (combine.run == taking(Reduce::min, combine.acc, combine.wire).run) return Meeting::smaller;
  return Meeting::add;
}

LaidMoves lay_moves(const Hands& hands, std::span<const BoxMove> boxes, Moves moves) {
  Tables t = tables(boxes);
  if (moves.meeting == Meeting::copy) widen(t, format(moves.stored).bytes);
  invert(t, moves);
  LaidMoves laid{lay<Piece>(hands, t.pieces), lay<std::int64_t>(hands, t.numbers), moves};
  laid.moves.pieces = laid.pieces.rows(), laid.moves.numbers = laid.numbers.rows();
  laid.moves.count = std::ssize(t.pieces), laid.moves.elements = t.elements, laid.moves.word = t.word;
  return laid;
}

}  // namespace plumb::cuda
