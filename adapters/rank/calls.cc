#include "adapters/rank/calls.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace plumb {
namespace {

using Kind = Formed::Kind;

// The cells that go from one device to another, in the order of the plan.
using Lanes = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::uint32_t>>;

Lanes lanes(const Round& round) {
  Lanes all;
  for (const Send& s : round.sends)
    if (s.from != s.to) all[{s.from, s.to}].push_back(s.cell);
  return all;
}

const std::vector<std::uint32_t>& lane(const Lanes& all, std::int64_t from, std::int64_t to) {
  static const std::vector<std::uint32_t> none;
  const auto at = all.find({from, to});
  return at == all.end() ? none : at->second;
}

// The cells that a member sends to every other member, or is sent by every other; of a fibre of one, none.
const std::vector<std::uint32_t>& cells_of(const Lanes& all, const std::vector<std::int64_t>& fibre,
                                           std::int64_t member, bool sums) {
  const std::int64_t other = fibre[0] == member ? fibre.back() : fibre[0];
  return sums ? lane(all, other, member) : lane(all, member, other);
}

// Whether they are the same for every other member.
bool alike(const Lanes& all, const std::vector<std::int64_t>& fibre, bool sums) {
  for (std::int64_t member : fibre)
    for (std::int64_t other : fibre)
      if (other != member &&
          (sums ? lane(all, other, member) : lane(all, member, other)) != cells_of(all, fibre, member, sums))
        return false;
  return true;
}

// Who differs from whom in what is sent, and whether each sends to one other at most and is sent by one at
// most.
struct Traffic {
  std::vector<AxisId> axes;
  bool one_each = true;
};

Traffic traffic(const Mesh& mesh, const Lanes& all) {
  Traffic t;
  std::map<std::int64_t, int> out, in;
  for (const auto& [ends, cells] : all)
    if (++out[ends.first] > 1 || ++in[ends.second] > 1) t.one_each = false;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const std::vector<AxisId> axis{static_cast<AxisId>(a)};
    if (std::ranges::any_of(all, [&](const auto& one) {
          return coordinate(mesh, axis, one.first.first) != coordinate(mesh, axis, one.first.second);
        }))
      t.axes.push_back(axis[0]);
  }
  return t;
}

std::int64_t bytes_of(const Link& link, const std::vector<std::uint32_t>& cells) {
  std::int64_t sum = 0;
  for (std::uint32_t cell : cells) sum += packed_bytes(link, {0, 0, cell});
  return sum;
}

struct Stack {
  const Link& link;
  std::uint32_t device;
  std::byte* at;
  void pack_all(const std::vector<std::uint32_t>& cells) {
    for (std::uint32_t cell : cells) {
      pack(link, {device, device, cell}, at);
      at += packed_bytes(link, {device, device, cell});
    }
  }
  void unpack_all(const std::vector<std::uint32_t>& cells) {
    for (std::uint32_t cell : cells) {
      unpack(link, {device, device, cell}, at);
      at += packed_bytes(link, {device, device, cell});
    }
  }
};

// A round as the process of one device sees it.
struct Carried {
  const Calls& calls;
  const Holder& holder;
  const Link& link;
  const Round& round;
  std::uint32_t device() const { return static_cast<std::uint32_t>(holder.own.begin); }

  Team group(const std::vector<AxisId>& axes) const {
    for (auto& fibre : fibres(*holder.mesh, axes))
      for (std::size_t i = 0; i < fibre.size(); ++i)
        if (fibre[i] == holder.own.begin) return {std::move(fibre), i};
    assert(false);
    return {};
  }
  void move_own() const {
    for (const Send& s : round.sends)
      if (s.from == device() && s.to == device()) move_within(link, {&s, 1});
  }
  void gather(const Team& g) const {
    const Lanes all = lanes(round);
    Gathering gathering;
    for (std::int64_t member : g.ids)
      gathering.counts.push_back(bytes_of(link, cells_of(all, g.ids, member, false)));
    std::int64_t sum = 0;
    for (std::int64_t n : gathering.counts) sum += n;
    gathering.in.resize(gathering.counts[g.mine]), gathering.out.resize(sum);
    Stack{link, device(), gathering.in.data()}.pack_all(cells_of(all, g.ids, device(), false));
    calls.all_gather(g, gathering);
    move_own();
    Stack from{link, device(), gathering.out.data()};
    for (std::size_t i = 0; i < g.ids.size(); ++i)
      i == g.mine ? void(from.at += gathering.counts[i])
                  : from.unpack_all(cells_of(all, g.ids, g.ids[i], false));
  }
  // What comes back is in place of this one's part.
  void reduce(const Team& g, const std::vector<std::vector<std::uint32_t>>& shares, bool scatters) const {
    Combination r{link.combine, {}, {}, {}};
    std::int64_t sum = 0;
    for (const auto& cells : shares) {
      r.counts.push_back(bytes_of(link, cells) / format(link.combine.wire).bytes);
      sum += bytes_of(link, cells);
    }
    const auto& mine = shares[scatters ? g.mine : 0];
    r.in.resize(sum), r.out.resize(bytes_of(link, mine));
    Stack in{link, device(), r.in.data()};
    for (const auto& cells : shares) in.pack_all(cells);
    (scatters ? calls.reduce_scatter : calls.all_reduce)(g, r);
    const Link placed{link.from, link.to, link.cells, placing(link.combine.acc, link.combine.wire)};
    Stack{placed, device(), r.out.data()}.unpack_all(mine);
  }
  void scatter_sums(const Team& g) const {
    const Lanes all = lanes(round);
    std::vector<std::vector<std::uint32_t>> shares;
    for (std::int64_t member : g.ids) shares.push_back(cells_of(all, g.ids, member, true));
    reduce(g, shares, true);
  }
  void sum_everywhere(const Team& g) const {
    std::vector<std::uint32_t> mine;
    for (const Send& s : round.sends)
      if (s.from == device() && s.to == device()) mine.push_back(s.cell);
    reduce(g, {mine}, false);
  }
};

// Everything of a round by parcels, whatever it is.
void exchange_all(const Link& link, const Round& round,
                  const std::function<void(std::vector<Parcel>&)>& call) {
  Exchange all = exchange(link, round);
  std::map<std::int64_t, const std::byte*> next;  // of each parcel that came
  for (Parcel& parcel : all.parcels)
    for (std::byte* at = parcel.out.data(); const Send& s : parcel.sent) {
      pack(link, s, at);
      at += packed_bytes(link, s);
    }
  call(all.parcels);
  for (const Parcel& parcel : all.parcels) next[parcel.process] = parcel.in.data();
  for (const Send& s : all.arrives) {
    if (link.to->own.begin <= s.from && s.from < link.to->own.end) {
      move_within(link, {&s, 1});
      continue;
    }
    const std::byte*& at = next.at(s.from / link.to->own.size());
    unpack(link, s, at);
    at += packed_bytes(link, s);
  }
}

std::vector<AxisId> all_axes(const Mesh& mesh) {
  std::vector<AxisId> axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) axes.push_back(static_cast<AxisId>(a));
  return axes;
}

Team all_processes(const Holder& holder) {
  Team g;
  for (std::int64_t p = 0; p < devices(*holder.mesh) / holder.own.size(); ++p) g.ids.push_back(p);
  g.mine = static_cast<std::size_t>(holder.own.begin / holder.own.size());
  return g;
}

}  // namespace

Formed formed(const Holder& holder, const Leg& leg, const Round& round) {
  if (round.issued < 0) return {};
  if (holder.own.size() > 1) return {Kind::all_to_all, all_axes(*holder.mesh)};
  const Issued& issued = leg.issued[round.issued];
  if (issued.kind == "all-reduce") return {Kind::all_reduce, issued.axes};
  const Lanes all = lanes(round);
  const bool named = issued.kind == "all-gather" || issued.kind == "reduce-scatter";
  if (named && std::ranges::all_of(fibres(*holder.mesh, issued.axes),
                                   [&](const auto& fibre) { return alike(all, fibre, round.add); }))
    return {round.add ? Kind::reduce_scatter : Kind::all_gather, issued.axes};
  const Traffic t = traffic(*holder.mesh, all);
  if (t.one_each) return {Kind::permute, {}};
  return {Kind::all_to_all, t.axes};
}

namespace {

std::string in_words(const Mesh& mesh, const Formed& call) {
  constexpr const char* names[] = {"",           "all-gather", "reduce-scatter",
                                   "all-reduce", "all-to-all", "collective-permute"};
  std::string text = names[static_cast<std::size_t>(call.kind)] + std::string(" {}");
  for (std::size_t i = 0; i < call.axes.size(); ++i)
    text += (i ? "." : " over ") + mesh.axes[call.axes[i]].name;
  return text;
}

void carry(const Calls& calls, const Carried& c, const Formed& call) {
  switch (call.kind) {
    case Kind::stays:
      break;
    case Kind::all_gather:
      return c.gather(c.group(call.axes));
    case Kind::reduce_scatter:
      return c.scatter_sums(c.group(call.axes));
    case Kind::all_reduce:
      return c.sum_everywhere(c.group(call.axes));
    case Kind::permute:
      return exchange_all(c.link, c.round, calls.permute);
    case Kind::all_to_all: {
      const Team g = c.holder.own.size() > 1 ? all_processes(c.holder) : c.group(call.axes);
      return exchange_all(c.link, c.round,
                          [&](std::vector<Parcel>& parcels) { calls.all_to_all(g, parcels); });
    }
  }
}

}  // namespace

Carry through(const Calls& calls, const Holder& holder) {
  return [&calls, holder](const Link& link, const Leg& leg, const Round& round) {
    const Formed call = formed(holder, leg, round);
    if (call.kind == Kind::stays) {
      move_within(link, exchange(link, round).arrives);
      return;
    }
    if (calls.entering) calls.entering(in_words(*holder.mesh, call));
    carry(calls, {calls, holder, link, round}, call);
    if (calls.leaving) calls.leaving();
  };
}

}  // namespace plumb
