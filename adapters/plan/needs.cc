#include "adapters/plan/needs.h"

#include <algorithm>
#include <functional>
#include <map>

#include "adapters/plan/cells.h"

namespace plumb {
namespace {

struct Work {
  Range rows, groups;
};

// The rows and groups of each device.
std::vector<Work> works(const Plan& plan) {
  const LocalProduct& p = *plan.product;
  const Dim& t = p.lhs_spec.dims[0];
  const Dim& g = p.rhs[0] == 'g' ? p.rhs_spec.dims[0] : p.out_spec.dims[0];
  std::vector<Work> all(devices(plan.mesh));
  for (std::size_t device = 0; device < all.size(); ++device) {
    const auto d = static_cast<std::int64_t>(device);
    all[device] = {piece(plan.mesh, t, plan.rule, coordinate(plan.mesh, t.axes, d)),
                   piece(plan.mesh, g, plan.rule, coordinate(plan.mesh, g.axes, d))};
  }
  return all;
}

bool meet(const Range& a, const Range& b) { return std::max(a.begin, b.begin) < std::min(a.end, b.end); }

// The first dimension of an operand in pieces that are needed or not as a whole: single groups, or the
// runs of rows with the group of each, -1 for the tail.
struct Unsplit {
  Range range;
  std::int64_t group;
};

std::vector<Unsplit> pieces(const LocalProduct& p, bool weights) {
  std::vector<Unsplit> all;
  for (std::int64_t g = 0; g < std::ssize(p.rows); ++g) {
    if (weights)
      all.push_back({
          {g, g + 1},
          g
      });
    for (const Range& run : p.rows[g])
      if (!weights && run.size() > 0) all.push_back({run, g});
  }
  std::ranges::sort(all, {}, [](const Unsplit& piece) { return piece.range.begin; });
  return all;  // the tail is nobody's: it is in no piece
}

bool needs(const LocalProduct& p, const Work& work, const Unsplit& piece, bool weights) {
  if (!meet(work.groups, {piece.group, piece.group + 1})) return false;
  if (!weights) return true;
  const std::vector<Range>& runs = p.rows[piece.group];
  return std::any_of(runs.begin(), runs.end(), [&](const Range& run) { return meet(run, work.rows); });
}

// The cells that a cell falls into, with the piece of each.
struct Part {
  std::uint32_t cell;
  const Unsplit* piece;
};

std::vector<Part> fall_apart(Leg& leg, std::int64_t cell, const std::vector<Unsplit>& all) {
  std::vector<Range> box;
  for (int d = 0; d < leg.cells.rank; ++d)
    box.push_back({leg.cells.box(cell)[2 * d], leg.cells.box(cell)[2 * d + 1]});
  std::vector<Part> parts;
  auto piece = std::ranges::upper_bound(all, box[0].begin, {}, [](const Unsplit& p) { return p.range.end; });
  for (const Range whole = box[0]; piece != all.end() && piece->range.begin < whole.end; ++piece) {
    box[0] = {std::max(whole.begin, piece->range.begin), std::min(whole.end, piece->range.end)};
    parts.push_back({append(leg.cells, box), &*piece});
  }
  return parts;
}

}  // namespace

void spare(const Plan& plan, int which, Leg& leg) {
  const LocalProduct& p = *plan.product;
  const bool weights = (which == 0 ? p.lhs : p.rhs)[0] == 'g';
  if (leg.stays || leg.rounds.size() != 1 || leg.rounds[0].add) return;
  const std::vector<Unsplit> all = pieces(p, weights);
  const std::vector<Work> work = works(plan);
  std::map<std::uint32_t, std::vector<Part>> parts;
  Round round = leg.rounds[0];
  round.sends.clear();
  for (const Send& send : leg.rounds[0].sends) {
    const auto [known, fresh] = parts.try_emplace(send.cell);
    if (fresh) known->second = fall_apart(leg, send.cell, all);
    for (const Part& part : known->second)
      if (needs(p, work[send.to], *part.piece, weights))
        round.sends.push_back({send.from, send.to, part.cell});
  }
  round.issued = -1;
  leg.issued.clear();
  report_copies(grid(plan.mesh), leg, round, amounts(plan.mesh, leg.from, plan.rule));
  leg.rounds = {std::move(round)};
}

std::int64_t copied(const Leg& leg) {
  std::int64_t sum = 0;
  for (const Issued& issued : leg.issued) sum += issued.moved;
  return sum;
}

}  // namespace plumb
