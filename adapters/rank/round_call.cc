#include "adapters/rank/round_call.h"

#include <algorithm>

#include "reference/words/text.h"

namespace plumb {
namespace {

using Kind = RoundCall::Kind;

Lanes lanes_of(const Round& round) {
  Lanes all;
  for (const Send& s : round.sends)
    if (s.from != s.to) all[{s.from, s.to}].push_back(s.cell);
  return all;
}

const CellList& lane(const Lanes& all, std::int64_t from, std::int64_t to) {
  static const CellList none;
  const auto at = all.find({from, to});
  return at == all.end() ? none : at->second;
}

// Another member; of a fibre of one, itself.
std::int64_t another(const std::vector<std::int64_t>& fibre, std::int64_t member) {
  return fibre[0] == member ? fibre.back() : fibre[0];
}

// Whether what a member gives, or takes, is the same for every other member.
bool alike(const RoundCall& call, const std::vector<std::int64_t>& fibre, bool sums) {
  for (std::int64_t member : fibre)
    for (std::int64_t other : fibre)
      if (other != member && (sums ? lane(call.lanes, other, member) != taken(call, fibre, member)
                                   : lane(call.lanes, member, other) != given(call, fibre, member)))
        return false;
  return true;
}

// Whether each sends to one other at most and is sent by one at most.
bool one_each(const Lanes& all) {
  std::map<std::int64_t, int> out, in;
  return std::ranges::all_of(
      all, [&](const auto& one) { return ++out[one.first.first] == 1 && ++in[one.first.second] == 1; });
}

// The axes along which senders and receivers differ.
std::vector<AxisId> crossed(const Mesh& mesh, const Lanes& all) {
  std::vector<AxisId> axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const std::vector<AxisId> axis{static_cast<AxisId>(a)};
    if (std::ranges::any_of(all, [&](const auto& one) {
          return coordinate(mesh, axis, one.first.first) != coordinate(mesh, axis, one.first.second);
        }))
      axes.push_back(axis[0]);
  }
  return axes;
}

std::vector<AxisId> all_axes(const Mesh& mesh) {
  std::vector<AxisId> axes;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) axes.push_back(static_cast<AxisId>(a));
  return axes;
}

std::int64_t size_of(const CellBoxes& boxes, const CellList& cells) {
  std::int64_t sum = 0;
  for (std::uint32_t cell : cells) sum += elements(boxes, cell);
  return sum;
}

std::vector<Amount> amounts_of(const Mesh& mesh, const RoundCall& call, const Leg& leg, const Round& round) {
  std::vector<Amount> all(devices(mesh));
  const auto size = [&](const CellList& cells) { return size_of(leg.cells, cells); };
  if (call.kind == Kind::all_to_all || call.kind == Kind::permute)
    for (const auto& [ends, cells] : call.lanes)
      all[ends.first].in += size(cells), all[ends.second].out += size(cells);
  else
    for (const auto& fibre : fibres(mesh, call.axes)) {
      std::int64_t sum = 0;
      for (std::int64_t d : fibre)
        sum += call.kind == Kind::all_gather ? size(given(call, fibre, d)) : size(taken(call, fibre, d));
      for (std::int64_t d : fibre)
        all[d] = call.kind == Kind::all_gather       ? Amount{size(given(call, fibre, d)), sum}
                 : call.kind == Kind::reduce_scatter ? Amount{sum, size(taken(call, fibre, d))}
                                                     : Amount{size(kept(round, d)), size(kept(round, d))};
    }
  return all;
}

}  // namespace

const CellList& given(const RoundCall& call, const std::vector<std::int64_t>& fibre, std::int64_t device) {
  return lane(call.lanes, device, another(fibre, device));
}

const CellList& taken(const RoundCall& call, const std::vector<std::int64_t>& fibre, std::int64_t device) {
  return lane(call.lanes, another(fibre, device), device);
}

CellList kept(const Round& round, std::int64_t device) {
  CellList cells;
  for (const Send& s : round.sends)
    if (s.from == device && s.to == device) cells.push_back(s.cell);
  return cells;
}

RoundCall call_of(const Holder& holder, const Leg& leg, const Round& round) {
  const Mesh& mesh = *holder.mesh;
  if (round.issued < 0) return {};
  RoundCall call{Kind::all_to_all, {}, lanes_of(round)};
  if (call.lanes.empty()) return {};
  const Issued& issued = leg.issued[round.issued];
  const bool named = issued.kind == "all-gather" || issued.kind == "reduce-scatter";
  if (holder.own.size() > 1) {
    call.axes = all_axes(mesh);
  } else if (issued.kind == "all-reduce") {
    call.kind = Kind::all_reduce, call.axes = issued.axes;
  } else if (named && std::ranges::all_of(fibres(mesh, issued.axes),
                                          [&](const auto& f) { return alike(call, f, round.add); })) {
    call.kind = round.add ? Kind::reduce_scatter : Kind::all_gather, call.axes = issued.axes;
  } else if (one_each(call.lanes)) {
    call.kind = Kind::permute;
  } else {
    call.axes = crossed(mesh, call.lanes);
  }
  return call;
}

std::string reduction_taken(const Leg& leg) {
  return leg.from.reduction == Reduce::sum ? "add" : std::string(name(leg.from.reduction));
}

const char* name(Kind kind) {
  constexpr const char* names[] = {"",           "all-gather", "reduce-scatter",
                                   "all-reduce", "all-to-all", "collective-permute"};
  return names[static_cast<std::size_t>(kind)];
}

std::string call_in_words(const Collective& call, const std::string& behind) {
  std::string text = call.kind + behind;
  for (std::size_t i = 0; i < call.axes.size(); ++i) text += (i ? "." : " over ") + call.axes[i];
  return text;
}

Called as_said(const Mesh& mesh, const RoundCall& call, const Leg& leg, const Round& round) {
  Called called{{}, amounts_of(mesh, call, leg, round)};
  Collective& c = called.said;
  c.kind = name(call.kind);
  c.axes = axis_names(mesh, call.axes);
  if (call.kind == Kind::permute)
    for (const auto& [ends, cells] : call.lanes) c.pairs.push_back(ends);
  std::int64_t put = 0, got = 0;
  for (const Amount& one : called.each) {
    c.in = std::max(c.in, one.in), c.out = std::max(c.out, one.out);
    put += one.in, got += one.out;
  }
  const bool sums = call.kind == Kind::reduce_scatter || call.kind == Kind::all_reduce;
  if (!sums) c.moved = got - (call.kind == Kind::all_gather ? put : 0);
  if (call.kind == Kind::reduce_scatter) c.moved = got * (axes_size(mesh, call.axes) - 1);
  if (sums) c.op = reduction_taken(leg);
  return called;
}

}  // namespace plumb
