#include "adapters/rank/steps.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "adapters/rank/packing.h"
#include "adapters/rank/round_call.h"

namespace plumb {
namespace {

using CallKind = RoundCall::Kind;
using Sends = std::vector<Send>;

// One side of a call: what there is of each member, in a block as it lies, or packed.
struct End {
  Lots lots;
  std::vector<Parcel> parcels;  // of what is packed
  AlignedMemory bytes;          // where the library takes it, or brings it
  bool packed = false;
};

struct Step {
  CallKind kind;
  Team team;
  int words = -1;  // known to the library
  Link link;
  Combine arriving;  // when cells are unpacked
  End out, in;
  std::vector<std::int64_t> travelling;  // elements of each share that leaves
  std::function<void()> pack, unpack;    // empty: nothing is
};

// The sends of both sides of a call by member; of a call that has one for all, by itself.
struct Shares {
  std::vector<Sends> out, in;
};

std::uint32_t id(std::int64_t device) { return static_cast<std::uint32_t>(device); }

// A round as one process sees it.
struct Seen {
  const Holder& holder;
  const Link& link;
  const Round& round;
  const RoundCall& call;

  std::int64_t process(std::int64_t device) const { return device / holder.own.size(); }
  std::int64_t mine() const { return process(holder.own.begin); }
  bool comes(const Send& s) const { return process(s.to) == mine(); }
  bool leaves(const Send& s) const { return process(s.from) == mine(); }

  Team team() const {
    Team all;
    if (holder.own.size() > 1) {
      for (std::int64_t p = 0; p < process(devices(*holder.mesh)); ++p) all.ids.push_back(p);
    } else {
      for (auto& fibre : fibres(*holder.mesh, call.axes))
        if (std::ranges::count(fibre, mine()) > 0) all.ids = std::move(fibre);
    }
    all.mine = static_cast<std::size_t>(std::ranges::find(all.ids, mine()) - all.ids.begin());
    return all;
  }
  Sends sends(std::int64_t from, std::int64_t to, const CellList& cells) const {
    Sends all;
    for (std::uint32_t cell : cells) all.push_back({id(from), id(to), cell});
    return all;
  }
  Shares shares(const Team& team) const {
    const std::int64_t own = holder.own.begin;
    Shares all;
    switch (call.kind) {
      case CallKind::all_gather:
        all.out.push_back(sends(own, own, given(call, team.ids, own)));
        for (std::int64_t m : team.ids) all.in.push_back(sends(m, own, given(call, team.ids, m)));
        break;
      case CallKind::reduce_scatter:
        for (std::int64_t m : team.ids) all.out.push_back(sends(own, m, taken(call, team.ids, m)));
        all.in.push_back(sends(own, own, taken(call, team.ids, own)));
        break;
      case CallKind::all_reduce:
        all.out.push_back(sends(own, own, kept(round, own)));
        all.in = all.out;
        break;
      default:
        all.out.resize(team.ids.size()), all.in = all.out;
        for (const Send& s : round.sends) {
          if (process(s.from) == process(s.to)) continue;
          if (leaves(s)) all.out[place(team, process(s.to))].push_back(s);
          if (comes(s)) all.in[place(team, process(s.from))].push_back(s);
        }
    }
    return all;
  }
  static std::size_t place(const Team& team, std::int64_t process) {
    return static_cast<std::size_t>(std::ranges::find(team.ids, process) - team.ids.begin());
  }
};

// Where the sends of a member lie one after another in a block; null where they do not.
const std::byte* piece_of(const Link& link, const Sends& sends, bool leaving) {
  const std::byte *first = nullptr, *next = nullptr;
  for (const Send& s : sends) {
    if (packed_bytes(link, s) == 0) continue;
    const Blocks& blocks = leaving ? *link.from : *link.to;
    const std::byte* at = in_one_piece(blocks, leaving ? s.from : s.to, link.cells->box(s.cell));
    if (!at || (next && at != next)) return nullptr;
    if (!first) first = at;
    next = at + packed_bytes(link, s);
  }
  return first;
}

std::int64_t bytes_of(const Link& link, const Sends& sends) {
  std::int64_t bytes = 0;
  for (const Send& s : sends) bytes += packed_bytes(link, s);
  return bytes;
}

// What a side wants of the blocks to be taken as it lies: the format that travels, each share in one piece;
// where a library adds up, all of them.
bool lies(const Link& link, const std::vector<Sends>& shares, bool leaving, bool in_order, Lots& lots) {
  const Blocks& blocks = leaving ? *link.from : *link.to;
  if (blocks.stored != link.combine.wire) return false;
  lots = {blocks.memory.get(), {}, {}};
  const std::byte* next = nullptr;
  for (const Sends& share : shares) {
    const std::int64_t bytes = bytes_of(link, share);
    const std::byte* at = bytes > 0 ? piece_of(link, share, leaving) : blocks.memory.get();
    if (!at || (in_order && bytes > 0 && next && at != next)) return false;
    lots.counts.push_back(bytes), lots.starts.push_back(at - blocks.memory.get());
    if (bytes > 0) next = at + bytes;
  }
  return true;
}

End packed(const Link& link, const std::vector<Sends>& shares) {
  End side;
  std::int64_t at = 0;
  for (const Sends& share : shares) {
    side.lots.starts.push_back(at);
    for (const Send& s : share) {
      side.parcels.push_back({s, at});
      at += packed_bytes(link, s);
    }
    side.lots.counts.push_back(at - side.lots.starts.back());
  }
  side.bytes = aligned(at, *link.to->hands);
  side.lots.at = side.bytes.get();
  side.packed = true;
  return side;
}

bool reduces(CallKind kind) { return kind == CallKind::reduce_scatter || kind == CallKind::all_reduce; }

// Whether what arrives may be written where it belongs: what a gather brings of this one's own belongs there
// too. No call may read where it writes.
bool may_arrive_in_place(const Seen& seen, const Step& step) {
  if (step.link.from == step.link.to && !step.out.packed) return false;
  if (step.kind != CallKind::all_gather) return true;
  const CellList own = kept(seen.round, seen.mine());
  return std::ranges::all_of(given(seen.call, step.team.ids, seen.mine()),
                             [&](std::uint32_t cell) { return std::ranges::count(own, cell) > 0; });
}

void choose_sides(Step& step, const Seen& seen, const Shares& shares) {
  const bool sums = reduces(step.kind);
  const bool copies = step.arriving.run == copying(DType::f32).run;
  const Link arriving{step.link.from, step.link.to, step.link.cells, step.arriving};
  if (!lies(step.link, shares.out, true, sums, step.out.lots)) step.out = packed(step.link, shares.out);
  if (!copies || !may_arrive_in_place(seen, step) || !lies(arriving, shares.in, false, false, step.in.lots))
    step.in = packed(arriving, shares.in);
}

// What is unpacked, and moved within the process. Those of one sender come in the order of the plan.
std::vector<Parcel> arrivals(const Seen& seen, const Step& step) {
  const std::vector<Parcel>& packed = step.in.parcels;
  if (reduces(step.kind)) return packed;
  std::map<std::int64_t, std::size_t> next;  // of each sender, the parcel that is due
  for (std::size_t i = packed.size(); i-- > 0;) next[seen.process(packed[i].send.from)] = i;
  const bool in_place = !step.in.packed && step.kind == CallKind::all_gather;
  const CellList& own = in_place ? given(seen.call, step.team.ids, seen.mine()) : CellList{};
  std::vector<Parcel> ordered;
  for (const Send& s : seen.round.sends) {
    if (!seen.comes(s)) continue;
    if (!seen.leaves(s) && step.in.packed)
      ordered.push_back(packed[next.at(seen.process(s.from))++]);
    else if (seen.leaves(s) && std::ranges::count(own, s.cell) == 0)
      ordered.push_back({s});
  }
  return ordered;
}

// Where what there is begins; a share of nothing lies nowhere.
std::byte* first(const Lots& lots) {
  for (std::size_t i = 0; i < lots.counts.size(); ++i)
    if (lots.counts[i] > 0) return lots.at + lots.starts[i];
  return lots.at;
}

void call_for(const Calls& calls, const Step& step) {
  const Lots &out = step.out.lots, &in = step.in.lots;
  switch (step.kind) {
    case CallKind::stays:
      return;
    case CallKind::all_gather:
      return calls.all_gather(step.team, {first(out), in});
    case CallKind::all_to_all:
      return calls.all_to_all(step.team, {out, in});
    case CallKind::permute: {
      Passing p;
      for (std::size_t i = 0; i < step.team.ids.size(); ++i) {
        const auto part = [i](const Lots& l) { return std::span(l.at + l.starts[i], l.counts[i]); };
        if (out.counts[i] > 0) p.to = step.team.ids[i], p.out = part(out);
        if (in.counts[i] > 0) p.from = step.team.ids[i], p.in = part(in);
      }
      return calls.permute(p);
    }
    default:
      return (step.kind == CallKind::all_reduce ? calls.all_reduce : calls.reduce_scatter)(
          step.team, {step.link.combine, step.travelling, first(out), first(in)});
  }
}

void carry_out(const Calls& calls, Step& step) {
  if (step.pack) step.pack();
  if (calls.entering) calls.entering(step.words);
  call_for(calls, step);
  if (calls.leaving) calls.leaving();
  if (step.unpack) step.unpack();
}

void pack_alone(Step& step) {
  if (step.pack) step.pack();
  if (step.unpack) step.unpack();
}

std::string numbered(const Collective& call) { return call_in_words(call, " {}"); }

Called said(const Seen& seen, const Leg& leg) {
  Called called = as_said(*seen.holder.mesh, seen.call, leg, seen.round);
  const Format& wire = format(seen.link.combine.wire);
  Collective& c = called.said;
  c.in *= wire.bytes, c.out *= wire.bytes;
  if (c.moved) *c.moved *= wire.bytes;
  c.dtype = wire.name;
  for (Amount& one : called.each) one.in *= wire.bytes, one.out *= wire.bytes;
  return called;
}

// Of a permute the team is whoever there is.
std::shared_ptr<Step> made_ready(const Seen& seen) {
  auto step =
      std::make_shared<Step>(Step{seen.call.kind, {}, -1, seen.link, seen.link.combine, {}, {}, {}, {}, {}});
  if (seen.call.kind == CallKind::permute)
    for (std::int64_t d = 0; d < devices(*seen.holder.mesh); ++d) step->team.ids.push_back(d);
  else
    step->team = seen.team();
  if (reduces(seen.call.kind)) {
    const Combine& combine = seen.link.combine;
    step->arriving = placing(combine.acc, combine.wire);
  }
  choose_sides(*step, seen, seen.shares(step->team));
  for (std::int64_t bytes : step->out.lots.counts)
    step->travelling.push_back(bytes / format(seen.link.combine.wire).bytes);
  const Link& link = step->link;
  if (step->out.packed) step->pack = packing(link, step->out.parcels, step->out.bytes.get());
  if (const std::vector<Parcel> all = arrivals(seen, *step); !all.empty())
    step->unpack = unpacking({link.from, link.to, link.cells, step->arriving}, all, step->in.bytes.get());
  return step;
}

}  // namespace

Carry through(const Calls& calls, const Holder& holder) {
  return [&calls, holder](const Link& link, const Leg& leg, const Round& round) -> Carried {
    const RoundCall call = call_of(holder, leg, round);
    const Seen seen{holder, link, round, call};
    if (call.kind == CallKind::stays) {
      std::vector<Parcel> own;
      for (const Send& s : round.sends)
        if (seen.comes(s)) own.push_back({s});
      return own.empty() ? Carried{} : Carried{unpacking(link, own, nullptr), {}};
    }
    Called called = said(seen, leg);
    const std::shared_ptr<Step> step = made_ready(seen);
    if (calls.known) step->words = calls.known(numbered(called.said));
    if (calls.join && call.kind != CallKind::permute) calls.join(step->team);
    Carried carried{[&calls, step] { carry_out(calls, *step); }, std::move(called)};
    if (step->out.packed || step->in.packed) carried.packing = [step] { pack_alone(*step); };
    return carried;
  };
}

Largest largest_through(const Calls& calls, const Holder& holder) {
  return [&calls, holder](const Collective& said,
                          const std::vector<AxisId>& axes) -> std::function<void(Magnitudes&)> {
    const RoundCall call{CallKind::all_reduce, axes, {}};
    Team team = Seen{holder, {}, {}, call}.team();
    if (calls.join) calls.join(team);
    return [&calls, team, holder, words = calls.known ? calls.known(numbered(said)) : -1](Magnitudes& m) {
      if (calls.entering) calls.entering(words);
      calls.largest(team, m.most[coordinate(*holder.mesh, m.apart, holder.own.begin)]);
      if (calls.leaving) calls.leaving();
    };
  };
}

}  // namespace plumb
