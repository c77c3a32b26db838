#include "adapters/rank/packing.h"

#include <memory>
#include <optional>

namespace plumb {
namespace {

// Copies here of the blocks of a link that lie elsewhere; of a value that is changed where it lies, one.
struct Near {
  Blocks from;
  std::optional<Blocks> to;
  Link link;

  explicit Near(const Link& far) : from(copy_here(*far.from)), link(far) {
    if (far.from != far.to) to = copy_here(*far.to);
    link.from = &from, link.to = to ? &*to : &from;
  }
};

void unpack_all(const Link& link, const std::vector<Parcel>& parcels, const std::byte* bytes) {
  for (const Parcel& p : parcels)
    p.at < 0 ? void(move_within(link, {&p.send, 1})) : unpack(link, p.send, bytes + p.at);
}

}  // namespace

std::function<void()> packing(const Link& link, std::vector<Parcel> parcels, std::byte* bytes) {
  const Hands& hands = *link.from->hands;
  if (hands.pack) return hands.pack(link, parcels, bytes);
  if (&hands == &own_hands())
    return [link, parcels = std::move(parcels), bytes] {
      for (const Parcel& p : parcels) pack(link, p.send, bytes + p.at);
    };
  const auto near = std::make_shared<Blocks>(copy_here(*link.from));
  return [&hands, near, link, bytes, here = std::vector<std::byte>(packed_bytes(link, parcels)),
          parcels = std::move(parcels)]() mutable {
    bring_here(*link.from, *near);
    for (const Parcel& p : parcels)
      pack({near.get(), link.to, link.cells, link.combine}, p.send, here.data() + p.at);
    hands.memory.put(bytes, here.data(), here.size());
  };
}

std::function<void()> unpacking(const Link& link, std::vector<Parcel> parcels, const std::byte* bytes) {
  const Hands& hands = *link.to->hands;
  if (hands.unpack) return hands.unpack(link, parcels, bytes);
  if (&hands == &own_hands())
    return [link, parcels = std::move(parcels), bytes] { unpack_all(link, parcels, bytes); };
  const auto near = std::make_shared<Near>(link);
  return [&hands, near, link, bytes, here = std::vector<std::byte>(packed_bytes(link, parcels)),
          parcels = std::move(parcels)]() mutable {
    if (!here.empty()) hands.memory.get(here.data(), bytes, here.size());
    bring_here(*link.from, near->from);
    if (near->to) bring_here(*link.to, *near->to);
    unpack_all(near->link, parcels, here.data());
    put_back(*near->link.to, *link.to);
  };
}

}  // namespace plumb
