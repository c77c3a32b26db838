#include "adapters/plan/report.h"

#include <algorithm>

namespace plumb {
namespace {

struct Traffic {
  AxisSet axes = 0;                    // along which senders and receivers differ
  std::vector<std::uint32_t> out, in;  // sends and receipts of each device
  Amounts received, got;               // elements each device ends with
  std::int64_t moved = 0;
};

Traffic traffic(const Grid& g, const Leg& leg, const Round& round) {
  Traffic t;
  t.out.resize(g.devices), t.in.resize(g.devices), t.received.resize(g.devices), t.got.resize(g.devices);
  const std::vector<std::int64_t>& place = g.mesh->place;
  const auto axes_between = [&](std::int64_t a, std::int64_t b) {
    if (!place.empty()) a = place[a], b = place[b];
    AxisSet set = 0;
    for (std::size_t i = 0; i < g.size.size(); ++i)
      if (a / g.stride[i] % g.size[i] != b / g.stride[i] % g.size[i]) set |= AxisSet{1} << i;
    return set;
  };
  const AxisSet most = [&] {
    AxisSet set = 0;
    for (std::size_t a = 0; a < g.size.size(); ++a) set |= AxisSet{g.size[a] > 1} << a;
    return set;
  }();
  for (const Send& send : round.sends) {
    const std::int64_t n = elements(leg.cells, send.cell);
    t.got[send.to] += n;
    if (send.from == send.to) continue;
    t.moved += n;
    t.received[send.to] += n;
    ++t.out[send.from], ++t.in[send.to];
    if (t.axes != most) t.axes |= axes_between(send.from, send.to);
  }
  return t;
}

// Per device, the sum over its fibre along `axes`.
Amounts fibre_sums(const Grid& g, AxisSet axes, const Amounts& each) {
  Amounts sums(g.devices, 0), out(g.devices);
  const std::vector<std::int64_t>& place = g.mesh->place;
  const auto first = [&](std::int64_t device) {
    const std::int64_t position = place.empty() ? device : place[device];
    return position - along(g, position, axes);
  };
  for (std::int64_t device = 0; device < g.devices; ++device) sums[first(device)] += each[device];
  for (std::int64_t device = 0; device < g.devices; ++device) out[device] = sums[first(device)];
  return out;
}

// Whoever sends or receives does so once, and what it receives is all that it then holds.
bool permutes(const Traffic& t) {
  for (std::size_t i = 0; i < t.in.size(); ++i)
    if (t.out[i] > 1 || t.in[i] > 1 || (t.in[i] == 1 && t.received[i] != t.got[i])) return false;
  return true;
}

}  // namespace

Amounts amounts(const Mesh& mesh, const Spec& spec, Rule rule) {
  Amounts all(devices(mesh));
  for (std::size_t device = 0; device < all.size(); ++device)
    all[device] = elements(block(mesh, spec, rule, static_cast<std::int64_t>(device)));
  return all;
}

void report_copies(const Grid& g, Leg& leg, Round& round, const Amounts& held) {
  const Traffic t = traffic(g, leg, round);
  if (t.axes == 0) return;
  Issued issued;
  issued.moved = t.moved;
  issued.in = *std::max_element(held.begin(), held.end());
  issued.out = *std::max_element(t.got.begin(), t.got.end());
  if (permutes(t)) {
    issued.kind = "collective-permute";
    for (const Send& send : round.sends)
      if (send.from != send.to) issued.pairs.emplace_back(send.from, send.to);
  } else {
    const Amounts all = fibre_sums(g, t.axes, held);
    issued.kind = t.got == all ? "all-gather" : fibre_sums(g, t.axes, t.got) == all ? "all-to-all" : "send";
    for (std::size_t a = 0; a < g.size.size(); ++a)
      if (contains(t.axes, static_cast<AxisId>(a))) issued.axes.push_back(static_cast<AxisId>(a));
  }
  round.issued = static_cast<int>(leg.issued.size());
  leg.issued.push_back(std::move(issued));
}

}  // namespace plumb
