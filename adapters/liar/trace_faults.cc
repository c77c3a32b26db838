#include "adapters/liar/trace_faults.h"

#include <algorithm>

namespace plumb {
namespace {

std::string first_axis(const Request& request) { return request.c.mesh.axes.front().name; }

Collective sum(const char* kind, const std::string& axis, std::int64_t in, std::int64_t out) {
  Collective step;
  step.kind = kind, step.axes = {axis}, step.in = in, step.out = out, step.op = "add";
  return step;
}

bool adds_up(const Collective& c) { return c.kind == "all-reduce" || c.kind == "reduce-scatter"; }

}  // namespace

void overcount(Outcome& o) {
  for (Collective& c : o.trace)
    if (c.moved) c.moved = *c.moved * 1000;
  o.received.reset();
}

void hide_in(Outcome& o) {
  for (Collective& c : o.trace) c.in = c.out = 99'999;
}

void reduce_half(Outcome& o) {
  std::int64_t bytes = 0;
  for (const Collective& c : o.trace) bytes = std::max(bytes, c.in);
  if (bytes == 0) return;
  o.trace = {sum("all-reduce", o.trace.front().axes.empty() ? "" : o.trace.front().axes.front(), bytes / 2,
                 bytes / 2)};
  o.received.reset();
}

void hide_gather(Outcome& o) {
  if (o.trace.empty() || o.trace.back().axes.empty()) return;
  const Collective last = o.trace.back();
  o.trace = {o.trace.front(), sum("all-reduce", last.axes.back(), last.out, last.out)};
  o.received.reset();
}

void call_broadcast_gather(Outcome& o) {
  for (Collective& c : o.trace)
    if (c.kind == "all-gather") c.in = c.out, c.moved.reset();
  o.received.reset();
}

void take_maximum(Outcome& o) {
  for (Collective& c : o.trace)
    if (!c.op.empty()) c.op = "max";
}

void narrow_trace(Outcome& o) {
  for (Collective& c : o.trace) c.dtype = "bf16";
}

void take_amax(Outcome& o) {
  for (Collective& c : o.trace)
    if (!c.op.empty()) c.op = "amax";
}

void move_halves(Outcome& o) {
  for (Collective& c : o.trace) c.dtype = "half";
}

void reverse_trace(Outcome& o) { std::ranges::reverse(o.trace); }

void exchange_axes(Outcome& o) {
  std::vector<std::string> two;
  for (const Collective& c : o.trace)
    for (const std::string& axis : c.axes)
      if (two.size() < 2 && std::ranges::count(two, axis) == 0) two.push_back(axis);
  for (Collective& c : o.trace)
    for (std::string& axis : c.axes)
      if (const auto at = std::ranges::find(two, axis); two.size() == 2 && at != two.end())
        axis = two[at == two.begin()];
}

void reduce_integers(Outcome& o) {
  for (Collective& c : o.trace)
    if (!c.op.empty()) c.dtype = "s8";
}

void call_scatter_exchange(Outcome& o) {
  for (Collective& c : o.trace)
    if (c.kind == "reduce-scatter") c.kind = "all-to-all";
}

void call_scatter_plain_exchange(Outcome& o) {
  call_scatter_exchange(o);
  for (Collective& c : o.trace)
    if (c.kind == "all-to-all") c.op.clear(), c.moved.reset();
  o.received.reset();
}

void broadcast_gathers(Outcome& o) {
  for (Collective& c : o.trace)
    if (c.kind == "all-gather") c.kind = "collective-broadcast", c.in = c.out;
}

void send_a_million_times(Outcome& o) {
  for (Collective& c : o.trace)
    if (c.kind == "send") c.moved = c.moved.value_or(0) * 1'000'000;
  o.received.reset();
}

Reply scatter_along_another(Reply reply, const Request& request, Arena&) {
  auto* outcome = std::get_if<Outcome>(&reply);
  if (!outcome || outcome->trace.empty()) return reply;
  const Axis& last = request.c.mesh.axes.back();
  const std::int64_t all = outcome->trace.front().in, piece = all / last.size;
  outcome->trace = {sum("reduce-scatter", last.name, all, piece),
                    sum("all-reduce", first_axis(request), piece, piece)};
  return reply;
}

Reply permute_all(Reply reply, const Request& request, Arena&) {
  auto* outcome = std::get_if<Outcome>(&reply);
  if (!outcome) return reply;
  for (Collective& c : outcome->trace) {
    if (c.kind != "collective-permute") continue;
    std::vector<std::int64_t> kept;
    for (std::int64_t d = 0; d < devices(request.c.mesh); ++d)
      if (std::ranges::none_of(c.pairs,
                               [&](const auto& pair) { return pair.second == d || pair.first == d; }))
        kept.push_back(d);
    for (std::size_t i = 0; i < kept.size(); ++i) c.pairs.emplace_back(kept[i], kept[kept.size() - 1 - i]);
    c.moved.reset();
  }
  return reply;
}

Reply reduce_too_little(Reply reply, const Request& request, Arena&) {
  auto* outcome = std::get_if<Outcome>(&reply);
  if (!outcome || outcome->trace.empty()) return reply;
  const std::int64_t block = outcome->trace.front().in / devices(request.c.mesh);
  outcome->trace = {sum("all-reduce", first_axis(request), block, block)};
  return reply;
}

void leave_out_sums(Outcome& o) { std::erase_if(o.trace, adds_up); }

void sum_again(Outcome& o) {
  Trace again;
  for (const Collective& c : o.trace) again.insert(again.end(), adds_up(c) ? 2 : 1, c);
  o.trace = std::move(again);
}

Reply sum_over_last(Reply reply, const Request& request, Arena&) {
  if (auto* outcome = std::get_if<Outcome>(&reply))
    for (Collective& c : outcome->trace)
      if (adds_up(c)) c.axes = {request.c.mesh.axes.back().name};
  return reply;
}

}  // namespace plumb
