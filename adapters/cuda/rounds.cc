#include "adapters/cuda/rounds.h"

#include <algorithm>
#include <map>
#include <memory>

#include "adapters/cuda/boxes.h"

namespace plumb::cuda {
namespace {

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

std::vector<BoxMove> boxes(const Link& link, const Round& round, Order order) {
  std::vector<BoxMove> all;
  const bool meets_own = round.add && link.from == link.to;
  for (const auto& [key, senders] : cells_of(link, round, order)) {
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

Carry by_device(const Device& device, Order order, std::int64_t& received) {
  return [&device, order, &received](const Link& link, const Leg&, const Round& round) -> Carried {
    Moves how;
    how.from = link.from->memory.get(), how.to = link.to->memory.get();
    how.stored = link.from->stored, how.wire = link.combine.wire;
    how.meeting = meeting(link.combine), how.order = order;
    const auto laid = std::make_shared<LaidMoves>(lay_moves(device.hands, boxes(link, round, order), how));
    return {[&device, &received, laid, bytes = bytes_received(link, round)] {
              device.move(laid->moves);
              received += bytes;
            },
            {}};
  };
}

}  // namespace plumb::cuda
