#include "adapters/nccl/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace plumb::nccl {
namespace {

Counted::Kind kind_of(const std::string& call) {
  if (call == "AllReduce") return Counted::all_reduce;
  if (call == "ReduceScatter" || call == "Reduce") return Counted::reduce_scatter;
  if (call == "AllGather") return Counted::all_gather;
  return call == "Send" || call == "Recv" ? Counted::exchange : Counted::another;
}

constexpr const char* kNames[] = {"nothing",    "all-reduce", "reduce-scatter",
                                  "all-gather", "exchange",   "something else"};

// Of shares of several sizes gathers are exchanges.
bool may_be(const std::string& said, std::int64_t kind) {
  if (kind == Counted::nothing || said == kNames[kind]) return true;
  return kind == Counted::exchange &&
         (said == "all-gather" || said == "all-to-all" || said == "collective-permute");
}

// This call, of each rank.
using OfRanks = std::vector<Counted>;

// Who is in one communicator is in one fibre, and who is in one fibre is in one communicator.
bool together(const std::vector<std::vector<std::int64_t>>& fibres, const OfRanks& call) {
  std::map<std::int64_t, std::size_t> fibre_of;
  for (std::size_t f = 0; f < fibres.size(); ++f)
    for (std::int64_t rank : fibres[f]) {
      const Counted& own = call[rank];
      if (own.kind == Counted::nothing) continue;
      if (fibre_of.try_emplace(own.circle, f).first->second != f) return false;
      const auto& first =
          *std::ranges::find_if(fibres[f], [&](std::int64_t r) { return call[r].kind != Counted::nothing; });
      if (call[first].circle != own.circle) return false;
    }
  return true;
}

// Whether all members of a sum give as much.
bool all_give(const std::vector<std::vector<std::int64_t>>& fibres, const OfRanks& call) {
  return std::ranges::all_of(fibres, [&](const auto& fibre) {
    return std::ranges::all_of(fibre, [&](std::int64_t r) { return call[r].in == call[fibre[0]].in; });
  });
}

bool as_paired(const Collective& c, const OfRanks& call) {
  std::vector<std::int64_t> to(call.size(), -1), from(call.size(), -1);
  for (const auto& [source, target] : c.pairs) to[source] = target, from[target] = source;
  for (std::size_t r = 0; r < call.size(); ++r)
    if ((call[r].in > 0 && call[r].to != to[r]) || (call[r].out > 0 && call[r].from != from[r])) return false;
  return true;
}

// A share that is sent to all counts once.
std::int64_t given(const Collective& c, const Counted& own, std::size_t members) {
  const bool to_all = own.kind == Counted::exchange && c.kind == "all-gather";
  return to_all ? own.in / static_cast<std::int64_t>(members) : own.in;
}

std::string other(const Mesh& mesh, const Collective& c, const OfRanks& call) {
  for (std::size_t r = 0; r < call.size(); ++r)
    if (!may_be(c.kind, call[r].kind))
      return fmt::format("was {} on rank {}, and the trace says {}", kNames[call[r].kind], r, c.kind);
  const bool permutes = c.kind == "collective-permute";
  const auto groups = fibres(mesh, axes_named(mesh, c.axes));
  if (permutes ? !as_paired(c, call) : !together(groups, call))
    return fmt::format("was among others than the trace says of {}", c.kind);
  if (c.kind == "all-reduce" && !all_give(groups, call))
    return "was of other sizes on the members of an all-reduce";
  std::int64_t in = 0, out = 0, moved = 0;
  for (const Counted& own : call) {
    in = std::max(in, given(c, own, groups[0].size())), out = std::max(out, own.out), moved += own.brought;
  }
  if (c.in == in && c.out == out && c.moved.value_or(moved) == moved) return "";
  return fmt::format("{}, took {} bytes, made {} and moved {}, and the trace says {}, {} and {}", c.kind, in,
                     out, moved, c.in, c.out, c.moved.value_or(moved));
}

// Of halves, and ranks, the most; not known where it is not known of one.
void also(Added& sum, const Added& one, bool first) {
  if (first || one.roundings == 0) sum = one;
  if (sum.roundings == 0) return;
  sum = {std::max(sum.additions, one.additions), std::max(sum.roundings, one.roundings)};
}

}  // namespace

// Halves of a call are two of a kind.
Counted count(const std::vector<Told>& calls) {
  Counted sum;
  for (const Told& t : calls) {
    const Counted::Kind kind = kind_of(t.call);
    if (sum.kind == Counted::nothing)
      sum.kind = kind, sum.circle = static_cast<std::int64_t>(t.circle.number);
    if (sum.kind != kind) sum.kind = Counted::another;
    const std::int64_t n = t.circle.ranks;
    if (kind == Counted::all_reduce || kind == Counted::reduce_scatter)
      also(sum.added, how_added(t, n), &t == calls.data());
    if (t.call == "Send") sum.in += t.bytes, sum.to = t.peer;
    if (t.call == "Recv") {
      sum.out += t.bytes, sum.from = t.peer;
      if (t.peer != t.circle.rank) sum.brought += t.bytes;
    }
    if (t.call == "AllReduce") sum.in += t.bytes, sum.out += t.bytes;
    if (t.call == "AllGather") sum.in += t.bytes, sum.out += n * t.bytes, sum.brought += (n - 1) * t.bytes;
    if (t.call == "ReduceScatter")
      sum.in += n * t.bytes, sum.out += t.bytes, sum.brought += (n - 1) * t.bytes;
    if (t.call != "Reduce") continue;
    sum.in += t.bytes;
    if (t.peer == t.circle.rank) sum.out += t.bytes, sum.brought += (n - 1) * t.bytes;
  }
  return sum;
}

Added added_in(std::size_t call, const std::vector<std::vector<Counted>>& all) {
  Added sum;
  bool first = true;
  for (const auto& rank : all)
    if (rank[call].kind != Counted::nothing) also(sum, rank[call].added, std::exchange(first, false));
  return sum;
}

std::string untrue(const Mesh& mesh, const Trace& trace, const std::vector<std::vector<Counted>>& all) {
  for (std::size_t i = 0; i < trace.size(); ++i) {
    OfRanks call;
    for (const auto& rank : all) call.push_back(rank[i]);
    if (std::string why = other(mesh, trace[i], call); !why.empty())
      return fmt::format("call {} {}", i + 1, why);
  }
  return "";
}

}  // namespace plumb::nccl
