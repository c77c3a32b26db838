#include "adapters/plan/submesh.h"

#include <utility>

namespace plumb {
namespace {

using Slices = std::vector<std::vector<std::int64_t>>;

void spread(Leg& leg, const Case& c, const Slices& all) {
  leg.from = renamed(std::move(leg.from), c.sub);
  leg.to = renamed(std::move(leg.to), c.sub);
  for (Issued& issued : leg.issued) {
    for (AxisId& axis : issued.axes) axis = c.sub[axis];
    issued.moved *= std::ssize(all);
    for (const auto& [from, to] : std::exchange(issued.pairs, {}))
      for (const auto& slice : all) issued.pairs.emplace_back(slice[from], slice[to]);
  }
  for (Round& round : leg.rounds)
    for (const Send& send : std::exchange(round.sends, {}))
      for (const auto& slice : all)
        round.sends.push_back({static_cast<std::uint32_t>(slice[send.from]),
                               static_cast<std::uint32_t>(slice[send.to]), send.cell});
}

}  // namespace

Plan in_every_slice(Plan one, const Case& c) {
  const Slices all = slices(c);
  one.mesh = c.mesh;
  one.operands = c.op.operands;
  for (std::vector<Leg>& legs : one.inputs)
    for (Leg& leg : legs) spread(leg, c, all);
  for (Leg& leg : one.legs) spread(leg, c, all);
  for (std::optional<Quantizer>& q : one.quantizers)
    if (q)
      for (AxisId& axis : q->axes) axis = c.sub[axis];
  if (one.product)
    for (Spec* spec : {&one.product->lhs_spec, &one.product->rhs_spec, &one.product->out_spec})
      *spec = renamed(std::move(*spec), c.sub);
  return one;
}

}  // namespace plumb
