#include "adapters/cuda/rounds.h"

#include <algorithm>
#include <map>
#include <memory>

#include "adapters/cuda/boxes.h"

namespace plumb::cuda {
namespace {

// One receiver's cell and who sends it.
using Cells = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>;

// A ring and a tree take the parts of a sum in the order of the mesh, whatever the devices' numbers: devices
// of other groups, which hold the same parts, add them up in the same.
struct Adding {
  Order order;
  const Mesh* mesh;
  void sort(std::vector<std::uint32_t>& senders) const {
    std::ranges::sort(senders, {}, [&](std::uint32_t d) -> std::int64_t {
      return mesh->place.empty() ? d : mesh->place[d];
    });
  }
};

// The senders of each cell, in the order of the plan, behind the receiver where its own part is met by what
// arrives; where that is not their order, in the order of the mesh.
Cells cells_of(const Link& link, const Round& round, const Adding& adding) {
  Cells cells;
  const bool meets_own = round.add && link.from == link.to;
  for (const Send& s : round.sends) {
    std::vector<std::uint32_t>& senders = cells[{s.to, s.cell}];
    if (senders.empty() && meets_own) senders.push_back(s.to);
    if (!meets_own || s.from != s.to) senders.push_back(s.from);
  }
  if (round.add && adding.order != Order::direct)
    for (auto& [cell, senders] : cells) adding.sort(senders);
  return cells;
}

std::vector<BoxMove> boxes(const Link& link, const Round& round, const Adding& adding) {
  std::vector<BoxMove> all;
  const bool meets_own = round.add && link.from == link.to;
  for (const auto& [key, senders] : cells_of(link, round, adding)) {
    BoxMove move{link.cells->box(key.second), {}};
    move.places.push_back(place_of(*link.to, key.first, move.box));
    for (std::uint32_t sender : senders) move.places.push_back(place_of(*link.from, sender, move.box));
    if (meets_own)
      move.own = static_cast<std::int32_t>(std::ranges::find(senders, key.first) - senders.begin());
    all.push_back(std::move(move));
  }
  return all;
}

std::int64_t bytes_received(const Link& link, const Round& round) {
  std::int64_t all = 0;
  for (const Send& s : round.sends)
    if (s.from != s.to) all += elements(*link.cells, s.cell);
  return all * format(link.combine.wire).bytes;
}

}  // namespace

Carry by_device(const Device& device, Order order, const Mesh& mesh, std::int64_t& received) {
  return [&device, adding = Adding{order, &mesh}, &received](const Link& link, const Leg&,
                                                             const Round& round) -> Carried {
    Moves how;
    how.from = link.from->memory.get(), how.to = link.to->memory.get();
    how.stored = link.from->stored, how.wire = link.combine.wire;
    how.meeting = meeting(link.combine), how.order = adding.order;
    const auto laid = std::make_shared<LaidMoves>(lay_moves(device.hands, boxes(link, round, adding), how));
    return {[&device, &received, laid, bytes = bytes_received(link, round)] {
              device.move(laid->moves);
              received += bytes;
            },
            {}};
  };
}

}  // namespace plumb::cuda
