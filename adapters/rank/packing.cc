#include "adapters/rank/packing.h"

#include <memory>

namespace plumb {
namespace {

// Blocks as this processor reaches them: those of a link, or copies of them.
struct Near {
  Link link;
  std::unique_ptr<Blocks> from, to;  // the copies; of a value that is changed where it lies, one

  explicit Near(const Link& far) : link(far) {
    if (far.to->hands == &own_hands()) return;
    from = std::make_unique<Blocks>(copy_here(*far.from));
    if (far.from != far.to) to = std::make_unique<Blocks>(copy_here(*far.to));
    link.from = from.get(), link.to = to ? to.get() : from.get();
  }
  void bring_from(const Link& far) const {
    if (from) bring_here(*far.from, *from);
  }
  void bring_to(const Link& far) const {
    if (to) bring_here(*far.to, *to);
  }
  void put_back_to(const Link& far) const {
    if (from) put_back(*link.to, *far.to);
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
  const auto near = std::make_shared<Near>(link);
  return [&hands, near, link, bytes, here = std::vector<std::byte>(packed_bytes(link, parcels)),
          parcels = std::move(parcels)]() mutable {
    near->bring_from(link);
    for (const Parcel& p : parcels) pack(near->link, p.send, here.data() + p.at);
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
    near->bring_from(link), near->bring_to(link);
    unpack_all(near->link, parcels, here.data());
    near->put_back_to(link);
  };
}

}  // namespace plumb
