#include "harness/diagnose/cause.h"

#include <fmt/format.h>

#include "harness/judge/summed.h"
#include "harness/judge/values.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Beyond these sizes an explanation would cost more than the verdict.
constexpr std::size_t most_tried = 6;

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

// The case with its operand's parts reduced in another way, and the code that says so.
struct Other {
  std::string code;
  Case c;
};

std::vector<Other> other_reductions(const Case& c) {
  std::vector<Other> all;
  const Spec& own = c.op.operands[0];
  if (!is_reshard(c) || own.unfinished.empty()) return all;
  const auto add = [&](std::string code, Reduce reduction, const std::vector<AxisId>& averaged) {
    if (reduction == own.reduction && axes_size(c.mesh, averaged) == axes_size(c.mesh, own.averaged)) return;
    all.push_back({std::move(code), c});
    Spec& spec = all.back().c.op.operands[0];
    spec.reduction = reduction, spec.averaged = averaged;
  };
  add("added_up", Reduce::sum, {});
  if (!format(own.dtype).integer)  // they have no mean
    add("divided_by_all", Reduce::sum, own.unfinished);
  add("largest_taken", Reduce::max, {});
  add("smallest_taken", Reduce::min, {});
  return all;
}

bool reduced_so(const Wanted& wanted, const Other& other, const std::vector<Held>& held) {
  const Tensor whole = evaluate(other.c, wanted.operands);
  Differences differences;
  for (const Held& block : held)
    compare({wanted.c, wanted.operands, whole, wanted.certificate}, block, nullptr, differences);
  return differences.place.elements == 0;
}

}  // namespace

std::int64_t causes_tried(const Case& c) {
  const std::size_t axes = summed_axes(c.op).size();
  return std::ssize(other_reductions(c)) + (axes > most_tried ? 0 : (std::int64_t{1} << axes) - 1);
}

std::vector<Explanation> cause(const Wanted& wanted, const std::vector<Held>& held) {
  constexpr std::size_t most_work = std::size_t{1} << 30;
  for (const Other& other : other_reductions(wanted.c))
    if (reduced_so(wanted, other, held)) return {{{{other.code}}}};
  const std::vector<AxisId> axes = summed_axes(wanted.c.op);
  if (axes.size() > most_tried) return {};
  for (std::size_t set = 1; set < std::size_t{1} << axes.size(); ++set) {
    std::vector<AxisId> chosen;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (set >> i & 1) {
        chosen.push_back(axes[i]);
        names.push_back(wanted.c.mesh.axes[axes[i]].name);
      }
    const std::size_t count = axes_size(wanted.c.mesh, chosen);
    if (count == 1 || count * wanted.whole.bytes.size() > most_work) continue;
    if (explains(wanted, chosen, held))
      return {{{{fmt::format("{}_unfinished", name(wanted.c.op.operands[0].reduction)), names}}}};
  }
  return {};
}

}  // namespace plumb
