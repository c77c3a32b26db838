#include "adapters/plan/group_pruning.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "adapters/plan/group_needs.h"
#include "adapters/plan/report.h"

namespace plumb {
namespace {

// Pairs of a device and a piece, or a cell; insert() says whether it is new.
struct Pairs {
  std::unordered_set<std::uint64_t> keys{};

  static std::uint64_t key(std::uint32_t device, std::int64_t of) {
    return std::uint64_t{device} << 32 | static_cast<std::uint64_t>(of);
  }
  bool has(std::uint32_t device, std::int64_t of) const { return keys.contains(key(device, of)); }
  bool insert(std::uint32_t device, std::int64_t of) { return keys.insert(key(device, of)).second; }
};

// The devices that hold what counts of a piece: those that the product concerns, or those of some pairs.
struct Holders {
  const InPieces& pieces;
  std::optional<Pairs> known{};

  bool has(std::uint32_t device, std::int64_t piece) const {
    return known ? known->has(device, piece) : concerns(pieces, device, piece);
  }
};

// A cell within one piece.
struct Part {
  std::uint32_t cell;
  std::int64_t piece;
};

// The cells of a leg in parts.
struct Parts {
  Leg& leg;
  const std::vector<Unsplit>& pieces;
  std::map<std::uint32_t, std::vector<Part>> known{};

  const std::vector<Part>& of(std::uint32_t cell) {
    const auto [at, fresh] = known.try_emplace(cell);
    if (fresh) fall_apart(cell, at->second);
    return at->second;
  }
  void fall_apart(std::uint32_t cell, std::vector<Part>& parts) {
    std::vector<Range> box;
    for (int d = 0; d < leg.cells.rank; ++d)
      box.push_back({leg.cells.box(cell)[2 * d], leg.cells.box(cell)[2 * d + 1]});
    auto piece =
        std::ranges::upper_bound(pieces, box[0].begin, {}, [](const Unsplit& p) { return p.range.end; });
    for (const Range whole = box[0]; piece != pieces.end() && piece->range.begin < whole.end; ++piece) {
      box[0] = both(whole, piece->range);
      parts.push_back({append(leg.cells, box), piece - pieces.begin()});
    }
  }
};

bool adds(const Leg& leg) {
  return std::ranges::any_of(leg.rounds,
                             [](const Round& round) { return round.add && !round.sends.empty(); });
}

// The copies of a leg that adds nothing, each from the device that had it at first.
Round at_once(const Leg& leg) {
  Round all;
  std::map<std::uint32_t, std::uint32_t> first;  // of what is passed on
  for (const Round& round : leg.rounds)
    for (Send send : round.sends) {
      if (round.from == Side::before)
        first[send.cell] = send.from;
      else
        send.from = first.at(send.cell);
      all.sends.push_back(send);
    }
  return all;
}

// Names anew what these copies have become.
void report_anew(const Plan& plan, Leg& leg) {
  Round all = at_once(leg);
  Amounts given(devices(plan.mesh));
  Pairs seen;
  for (const Send& send : all.sends)
    if (seen.insert(send.from, send.cell)) given[send.from] += elements(leg.cells, send.cell);
  leg.issued.clear();
  report_copies(grid(plan.mesh), leg, all, given);
  for (Round& round : leg.rounds) round.issued = all.issued;
}

// Takes away the copies of a leg whose receivers hold nothing that counts and pass nothing on that does, the
// last first. Who then has to hold what before.
Pairs without_needless(Leg& leg, const Holders& after) {
  Pairs before, passed;
  Parts parts{leg, after.pieces.all};
  for (auto round = leg.rounds.rbegin(); round != leg.rounds.rend(); ++round) {
    std::vector<Send> sends;
    for (const Send& send : round->sends)
      for (const auto& [cell, piece] : parts.of(send.cell)) {
        if (!after.has(send.to, piece) && !passed.has(send.to, cell)) continue;
        sends.push_back({send.from, send.to, cell});
        if (round->from == Side::after)
          passed.insert(send.from, cell);
        else
          before.insert(send.from, piece);
      }
    round->sends = std::move(sends);
  }
  return before;
}

// How often each cell of a collective is sent, and what each device takes part in and ends with.
struct Sums {
  std::map<std::uint32_t, std::int64_t> sends;
  Amounts in, out;
  std::int64_t moved = 0;
};

Sums sums(const Leg& leg, int issued, std::int64_t devices) {
  Sums s{{}, Amounts(devices), Amounts(devices)};
  Pairs seen, sent;
  for (auto round = leg.rounds.rbegin(); round != leg.rounds.rend(); ++round)
    for (const Send& send : round->sends) {
      if (round->issued != issued) continue;
      const std::int64_t size = elements(leg.cells, send.cell);
      ++s.sends[send.cell], s.moved += size;
      if (!sent.has(send.to, send.cell) && !seen.has(send.to, send.cell)) s.out[send.to] += size;
      sent.insert(send.from, send.cell);
      for (std::uint32_t device : {send.from, send.to})
        if (seen.insert(device, send.cell)) s.in[device] += size;
    }
  return s;
}

// A sum to which not all have something to add is none that has a name.
void report_sums_anew(const Plan& plan, Leg& leg) {
  std::vector<Issued> all;
  for (int i = 0; i < std::ssize(leg.issued); ++i) {
    Issued one = leg.issued[i];
    if (one.sums) {
      const Sums s = sums(leg, i, devices(plan.mesh));
      const std::int64_t others = axes_size(plan.mesh, one.axes) - 1;
      one.moved = s.moved, one.in = std::ranges::max(s.in), one.out = std::ranges::max(s.out);
      if (std::ranges::any_of(s.sends, [&](const auto& cell) { return cell.second != others; }))
        one.kind = "send";
    }
    const bool some = one.moved > 0;
    for (Round& round : leg.rounds)
      if (round.issued == i) round.issued = some ? static_cast<int>(all.size()) : -1;
    if (some) all.push_back(std::move(one));
  }
  leg.issued = std::move(all);
}

// Takes away what would be added of devices whose part is zero. Who then holds something else than zeros.
Pairs without_zeros(Leg& leg, const Holders& before) {
  Pairs gained, after;
  Parts parts{leg, before.pieces.all};
  for (Round& round : leg.rounds) {
    std::vector<Send> sends;
    for (const Send& send : round.sends)
      for (const auto& [cell, piece] : parts.of(send.cell)) {
        const bool has = round.from == Side::after
                             ? after.has(send.from, piece)
                             : before.has(send.from, piece) || gained.has(send.from, cell);
        if (!has) continue;
        if (round.add) sends.push_back({send.from, send.to, cell});
        round.add ? gained.insert(send.to, cell) : after.insert(send.to, piece);
      }
    if (round.add) round.sends = std::move(sends);
  }
  std::erase_if(leg.rounds, [](const Round& round) { return round.add && round.sends.empty(); });
  return after;
}

}  // namespace

void spare(const Plan& plan, int which, std::span<Leg> legs) {
  const LocalProduct& p = *plan.product;
  const InPieces all = pieces(plan, which == 0 ? p.lhs : p.rhs);
  Holders holders{all};
  for (auto leg = legs.rbegin(); leg != legs.rend() && !adds(*leg); ++leg) {
    if (leg->stays) continue;
    holders.known = without_needless(*leg, holders);
    report_anew(plan, *leg);
  }
}

void spare_zeros(const Plan& plan, std::span<Leg> legs) {
  const InPieces all = pieces(plan, plan.product->out);
  Holders holders{all};
  for (Leg& leg : legs) {
    if (leg.stays) continue;
    holders.known = without_zeros(leg, holders);
    report_sums_anew(plan, leg);
  }
}

}  // namespace plumb
