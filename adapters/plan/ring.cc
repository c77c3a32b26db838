// Rings: along one axis for a sum, along the axes of one dimension for a gather.
#include <algorithm>

#include "adapters/plan/cells.h"
#include "adapters/plan/meet.h"
#include "adapters/plan/plan.h"

namespace plumb {
namespace {

// The members of a ring in order, and the cell that each begins with; -1 where it has none.
struct Circle {
  std::vector<std::uint32_t> members;
  std::vector<std::int64_t> cells;
};

// Hop h sends to every member's right neighbour the cell that began at the member h places to its left
// and `shift` further. Hops are rounds: each uses what the one before brought.
void hops(const std::vector<Circle>& circles, std::int64_t shift, const Round& like, Leg& leg) {
  const auto n = static_cast<std::int64_t>(circles[0].members.size());
  for (std::int64_t h = 0; h + 1 < n; ++h) {
    Round round = like;
    for (const Circle& circle : circles)
      for (std::int64_t i = 0; i < n; ++i)
        if (const std::int64_t cell = circle.cells[(i - h + shift + n) % n]; cell >= 0)
          round.sends.push_back(
              {circle.members[i], circle.members[(i + 1) % n], static_cast<std::uint32_t>(cell)});
    leg.rounds.push_back(std::move(round));
  }
}

// Every member copies the cell it begins the gather with into its own new block.
Round keep(const std::vector<Circle>& circles, std::int64_t shift) {
  Round round;
  for (const Circle& circle : circles) {
    const std::size_t n = circle.members.size();
    for (std::size_t i = 0; i < n; ++i)
      if (const std::int64_t cell = circle.cells[(i + shift) % n]; cell >= 0)
        round.sends.push_back({circle.members[i], circle.members[i], static_cast<std::uint32_t>(cell)});
  }
  return round;
}

std::int64_t moved(const Leg& leg, int issued) {
  std::int64_t sum = 0;
  for (const Round& round : leg.rounds)
    if (round.issued == issued)
      for (const Send& send : round.sends) sum += elements(leg.cells, send.cell);
  return sum;
}

void gather_ring(const std::vector<Circle>& circles, std::int64_t shift, const Issued& like, Leg& leg) {
  const int index = static_cast<int>(leg.issued.size());
  leg.rounds.push_back(keep(circles, shift));
  hops(circles, shift, {.add = false, .from = Side::after, .to = Side::after, .issued = index, .sends = {}},
       leg);
  leg.issued.push_back(like);
  leg.issued.back().kind = "all-gather";
  leg.issued.back().moved = moved(leg, index);
}

std::int64_t most(const Amounts& amounts) { return *std::max_element(amounts.begin(), amounts.end()); }

Leg leg_of(const Spec& from, const Spec& to) {
  Leg leg;
  leg.from = from;
  leg.to = to;
  leg.cells.rank = static_cast<int>(from.dims.size());
  return leg;
}

// Sums over one unfinished axis: after the reduce-scatter member i owns cell i + 1.
Leg all_reduce(const Mesh& mesh, const Spec& from, AxisId axis, Rule rule) {
  Spec to = from;
  std::erase(to.unfinished, axis);
  std::erase(to.averaged, axis);
  if (to.unfinished.empty()) to.reduction = Reduce::sum;
  Leg leg = leg_of(from, to);
  std::vector<Circle> circles;
  const std::int64_t n = mesh.axes[axis].size;
  for (const auto& fibre : fibres(mesh, {axis})) {
    Circle circle{
        {fibre.begin(), fibre.end()},
        std::vector<std::int64_t>(n, -1)
    };
    const Slice whole = block(mesh, from, rule, fibre[0]);
    if (elements(whole) > 0)
      for (std::int64_t i = 0; const auto& share : shares(whole, n))
        circle.cells[i++] = append(leg.cells, share);
    circles.push_back(std::move(circle));
  }
  const std::int64_t block_size = most(amounts(mesh, from, rule)), share_size = (block_size + n - 1) / n;
  Issued issued{.kind = "reduce-scatter",
                .axes = {axis},
                .pairs = {},
                .sums = true,
                .in = block_size,
                .out = share_size,
                .moved = 0};
  hops(circles, 0, {.add = true, .from = Side::before, .to = Side::before, .issued = 0, .sends = {}}, leg);
  issued.moved = moved(leg, 0);
  leg.issued.push_back(issued);
  issued.sums = false;
  std::swap(issued.in, issued.out);
  gather_ring(circles, 1, issued, leg);
  return leg;
}

// Makes one dimension whole on every device.
Leg all_gather(const Mesh& mesh, const Spec& from, std::size_t dim, Rule rule) {
  Spec to = from;
  to.dims[dim].axes.clear();
  Leg leg = leg_of(from, to);
  std::vector<Circle> circles;
  for (const auto& fibre : fibres(mesh, from.dims[dim].axes)) {
    Circle circle{
        {fibre.begin(), fibre.end()},
        {             }
    };
    for (std::int64_t device : fibre) {
      const Slice own = block(mesh, from, rule, device);
      circle.cells.push_back(elements(own) > 0 ? append(leg.cells, own) : std::int64_t{-1});
    }
    circles.push_back(std::move(circle));
  }
  Issued issued;
  issued.axes = from.dims[dim].axes;
  issued.in = most(amounts(mesh, from, rule)), issued.out = most(amounts(mesh, to, rule));
  gather_ring(circles, 0, issued, leg);
  return leg;
}

}  // namespace

std::vector<Leg> ring(const Mesh& mesh, const Spec& from, const Spec& to, Rule rule) {
  std::vector<Leg> legs;
  Spec at = from;
  const auto go = [&](Leg leg) {
    at = leg.to;
    legs.push_back(std::move(leg));
  };
  for (AxisId axis : from.unfinished)
    if (!has(set_of(to.unfinished), axis)) go(all_reduce(mesh, at, axis, rule));
  for (std::size_t d = 0; d < from.dims.size(); ++d)
    if (from.dims[d].axes != to.dims[d].axes && !from.dims[d].axes.empty()) go(all_gather(mesh, at, d, rule));
  go(direct(mesh, at, to, rule));
  return legs;
}

}  // namespace plumb
