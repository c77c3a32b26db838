#include "adapters/cuda/rounds.h"

#include <algorithm>
#include <map>
#include <memory>

#include "adapters/cuda/laid.h"
#include "reference/device/element_at.h"

namespace plumb::cuda {
namespace {

Meeting meeting(const Combine& combine) {
  if (combine.run == copying(combine.acc).run) return Meeting::copy;
  if (combine.run == taking(Reduce::max, combine.acc, combine.wire).run) return Meeting::larger;
  if (combine.run == taking(Reduce::min, combine.acc, combine.wire).run) return Meeting::smaller;
  return Meeting::add;
}

// A box within a block: where its first element lies, and how far apart the next along each dimension are, in
// bytes.
struct Place {
  std::int64_t offset = 0;
  std::vector<std::int64_t> steps;
};

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

struct Tables {
  std::vector<Piece> pieces;
  std::vector<std::int64_t> numbers;
  std::int64_t elements = 0;
  int word = 0;  // bytes
};

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

// One receiver's cell and who sends it.
using Cells = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>;

// The senders of each cell, in the order of the plan, behind the receiver where its own part is met by what
// arrives; where that is not their order, in the order of their numbers.
Cells cells_of(const Link& link, const Round& round, Order order) {
  Cells cells;
  const bool meets_own = round.add && link.from == link.to;
  for (const Send& s : round.sends) {
    std::vector<std::uint32_t>& senders = cells[{s.to, s.cell}];
    if (senders.empty() && meets_own) senders.push_back(s.to);
    if (!meets_own || s.from != s.to) senders.push_back(s.from);
  }
  if (round.add && order != Order::direct)
    for (auto& [cell, senders] : cells) std::ranges::sort(senders);
  return cells;
}

Tables tables(const Link& link, const Round& round, Order order) {
  Tables t;
  const bool meets_own = round.add && link.from == link.to;
  for (const auto& [key, senders] : cells_of(link, round, order)) {
    const std::int64_t n = elements(*link.cells, key.second);
    if (n == 0) continue;
    const std::int64_t* box = link.cells->box(key.second);
    std::vector<Place> places{place_of(*link.to, key.first, box)};
    for (std::uint32_t sender : senders) places.push_back(place_of(*link.from, sender, box));
    const std::vector<std::int64_t> sizes = join_dims(box, places);
    Piece piece{t.elements, std::ssize(t.numbers), static_cast<std::int32_t>(sizes.size()),
                static_cast<std::int32_t>(senders.size()), -1};
    if (meets_own)
      piece.own = static_cast<std::int32_t>(std::ranges::find(senders, key.first) - senders.begin());
    t.pieces.push_back(piece);
    t.elements += n;
    t.numbers.insert(t.numbers.end(), sizes.begin(), sizes.end());
    for (const Place& place : places) {
      t.numbers.push_back(place.offset);
      t.numbers.insert(t.numbers.end(), place.steps.begin(), place.steps.end());
    }
  }
  return t;
}

std::int64_t bytes_received(const Link& link, const Round& round) {
  std::int64_t all = 0;
  for (const Send& s : round.sends)
    if (s.from != s.to) all += elements(*link.cells, s.cell);
  return all * format(link.combine.wire).bytes;
}

}  // namespace

Carry by_device(const Device& device, Order order, std::int64_t& received) {
  return [&device, order, &received](const Link& link, const Leg&, const Round& round) -> Carried {
    Tables t = tables(link, round, order);
    if (meeting(link.combine) == Meeting::copy) widen(t, format(link.from->stored).bytes);
    auto pieces = std::make_shared<Laid<Piece>>(lay<Piece>(device.hands, t.pieces));
    auto numbers = std::make_shared<Laid<std::int64_t>>(lay<std::int64_t>(device.hands, t.numbers));
    const Moves moves{pieces->rows(),
                      numbers->rows(),
                      std::ssize(t.pieces),
                      t.elements,
                      link.from->memory.get(),
                      link.to->memory.get(),
                      link.from->stored,
                      link.combine.wire,
                      meeting(link.combine),
                      order,
                      t.word};
    return {[&device, &received, pieces, numbers, moves, bytes = bytes_received(link, round)] {
              device.move(moves);
              received += bytes;
            },
            {}};
  };
}

}  // namespace plumb::cuda
