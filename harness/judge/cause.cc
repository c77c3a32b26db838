#include "harness/judge/cause.h"

#include <fmt/format.h>

#include "harness/judge/summed.h"
#include "reference/meaning/meaning.h"

namespace plumb {
namespace {

bool explains(const Wanted& wanted, const std::vector<AxisId>& chosen, const std::vector<Held>& held) {
  std::vector<std::optional<Tensor>> left(axes_size(wanted.c.mesh, chosen));
  for (const Held& block : held) {
    std::optional<Tensor>& whole = left[coordinate(wanted.c.mesh, chosen, block.device)];
    if (!whole) whole = evaluate(wanted.c, seen(wanted, chosen, block.device));
    Differences differences;
    compare({wanted.c, wanted.operands, *whole, wanted.certificate}, block, nullptr, differences);
    if (differences.place.elements > 0) return false;
  }
  return true;
}

}  // namespace

std::string cause(const Wanted& wanted, const std::vector<Held>& held) {
  // Beyond these sizes an explanation would cost more than the verdict.
  constexpr std::size_t most_axes = 6;
  constexpr std::size_t most_work = std::size_t{1} << 30;
  const std::vector<AxisId> axes = summed_axes(wanted.c.op);
  if (axes.size() > most_axes) return "";
  for (std::size_t set = 1; set < std::size_t{1} << axes.size(); ++set) {
    std::vector<AxisId> chosen;
    std::string names;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (set >> i & 1) {
        chosen.push_back(axes[i]);
        names += (names.empty() ? "" : ".") + wanted.c.mesh.axes[axes[i]].name;
      }
    const std::size_t count = axes_size(wanted.c.mesh, chosen);
    if (count == 1 || count * wanted.whole.bytes.size() > most_work) continue;
    if (explains(wanted, chosen, held)) return fmt::format("the sum over {} is left unfinished", names);
  }
  return "";
}

}  // namespace plumb
