#include "adapters/cuda/parcels.h"

#include <map>
#include <memory>

#include "adapters/cuda/boxes.h"

namespace plumb::cuda {
namespace {

// The bytes of a call as elements of the blocks' format, where that is another: a copy of them.
struct Recasted {
  AlignedMemory memory;
  std::int64_t elements = 0;
};

std::shared_ptr<Recasted> recasted(const Link& link, const Blocks& blocks, std::span<const Parcel> parcels) {
  const Format &stored = format(blocks.stored), &wire = format(link.combine.wire);
  if (blocks.stored == link.combine.wire) return nullptr;
  const std::int64_t n = packed_bytes(link, parcels) / wire.bytes;
  return std::make_shared<Recasted>(Recasted{aligned(n * stored.bytes, *blocks.hands), n});
}

Place place_in_call(const Link& link, const Blocks& blocks, const Parcel& p) {
  const int width = format(blocks.stored).bytes;
  Place place = place_alone(link.cells->box(p.send.cell), blocks.rank(), width);
  place.offset = p.at / format(link.combine.wire).bytes * width;
  return place;
}

Place moved(Place place, const std::byte* memory, const std::byte* base) {
  place.offset += reinterpret_cast<std::intptr_t>(memory) - reinterpret_cast<std::intptr_t>(base);
  return place;
}

// Where what comes of a parcel lies; all sources have one memory, `base`.
struct Arriving {
  const Link& link;
  const std::byte* base;

  Place source(const Parcel& p) const {
    if (p.at >= 0) return place_in_call(link, *link.to, p);
    const Place place = place_of(*link.from, p.send.from, link.cells->box(p.send.cell));
    return moved(place, link.from->memory.get(), base);
  }
  // The receiver's own part is met by what arrives, in this order; of copies the last stays.
  std::vector<BoxMove> boxes(std::span<const Parcel> parcels) const {
    const bool copies = meeting(link.combine) == Meeting::copy;
    std::map<std::pair<std::uint32_t, std::uint32_t>, BoxMove> all;
    for (const Parcel& p : parcels) {
      const std::int64_t* box = link.cells->box(p.send.cell);
      const Place own = place_of(*link.to, p.send.to, box);
      BoxMove begun{box, {own}};
      if (!copies) begun.own = 0, begun.places.push_back(moved(own, link.to->memory.get(), base));
      BoxMove& move = all.try_emplace({p.send.to, p.send.cell}, begun).first->second;
      if (copies) move = begun;
      move.places.push_back(source(p));
    }
    std::vector<BoxMove> list;
    for (auto& [key, move] : all) list.push_back(std::move(move));
    return list;
  }
};

}  // namespace

std::function<void()> pack_by(Move move, const Link& link, std::span<const Parcel> parcels,
                              std::byte* bytes) {
  const Hands& hands = *link.from->hands;
  const std::shared_ptr<Recasted> before = recasted(link, *link.from, parcels);
  std::vector<BoxMove> boxes;
  for (const Parcel& p : parcels) {
    const std::int64_t* box = link.cells->box(p.send.cell);
    boxes.push_back({
        box, {place_in_call(link, *link.from, p), place_of(*link.from, p.send.from, box)}
    });
  }
  Moves how;
  how.from = link.from->memory.get(), how.to = before ? before->memory.get() : bytes;
  how.stored = how.wire = link.from->stored;
  const auto laid = std::make_shared<LaidMoves>(lay_moves(hands, boxes, how));
  return [&hands, move, laid, before, bytes, change = Recast{link.from->stored, link.combine.wire}] {
    move(laid->moves);
    if (before) hands.recast(change, before->memory.get(), bytes, before->elements);
    hands.memory.wait();
  };
}

std::function<void()> unpack_by(Move move, const Link& link, std::span<const Parcel> parcels,
                                const std::byte* bytes) {
  const Hands& hands = *link.to->hands;
  const std::shared_ptr<Recasted> after = recasted(link, *link.to, parcels);
  const std::byte* base = after ? after->memory.get() : bytes ? bytes : link.from->memory.get();
  Moves how;
  how.from = base, how.to = link.to->memory.get();
  how.stored = link.to->stored, how.wire = link.combine.wire, how.meeting = meeting(link.combine);
  const std::vector<BoxMove> boxes = Arriving{link, base}.boxes(parcels);
  const auto laid = std::make_shared<LaidMoves>(lay_moves(hands, boxes, how));
  return [&hands, move, laid, after, bytes, change = Recast{link.combine.wire, link.to->stored}] {
    if (after) hands.recast(change, bytes, after->memory.get(), after->elements);
    move(laid->moves);
    hands.memory.wait();
  };
}

}  // namespace plumb::cuda
