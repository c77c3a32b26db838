#include "harness/judge/summed.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "harness/trace/steps.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

// A dimension of an operand over which the case adds.
struct Contracted {
  int operand;
  int dim;
};

std::vector<Contracted> contracted_in_both(const Op& op) {
  std::vector<Contracted> found;
  for (int operand = 0; operand < static_cast<int>(op.operands.size()); ++operand)
    for (int dim : contracted_dims(op, operand)) found.push_back({operand, dim});
  return found;
}

// Clears the elements of one dimension that lie outside `keep`.
void keep_only(Tensor& tensor, std::size_t dim, const std::vector<char>& keep) {
  const std::int64_t inner = strides(tensor.shape)[dim] * format(tensor.dtype).bytes;
  const std::int64_t size = tensor.shape[dim];
  for (std::size_t at = 0; at < tensor.bytes.size(); at += inner)
    if (!keep[at / inner % size]) std::memset(tensor.bytes.data() + at, 0, inner);
}

// What is as good as no part: zero for a sum, for a maximum less than any number.
std::uint64_t no_part(DType dtype, Reduce reduction) {
  if (reduction == Reduce::sum) return encode(dtype, 0);
  return encode(dtype, reduction == Reduce::max ? -format(dtype).largest : format(dtype).largest);
}

// Leaves of the parts those that are in `keep`.
void take_away(Tensor& parts, Reduce reduction, const std::vector<char>& keep) {
  const std::int64_t size = strides(parts.shape)[0], bytes = format(parts.dtype).bytes;
  const std::uint64_t none = no_part(parts.dtype, reduction);
  for (std::int64_t p = 0; p < std::ssize(keep); ++p)
    for (std::int64_t i = 0; i < size && !keep[p]; ++i)
      store(parts.dtype, parts.bytes.data() + (p * size + i) * bytes, none);
}

// Which indices of a cut along `axes` belong to devices at the coordinates of `device` along `chosen`.
std::vector<char> pieces_of(const Case& c, const std::vector<AxisId>& axes, const std::vector<AxisId>& chosen,
                            std::int64_t device) {
  const std::vector<AxisId> both = shared(axes, chosen);
  std::vector<char> mine(axes_size(c.mesh, axes));
  const std::int64_t here = coordinate(c.mesh, both, device);
  for (std::int64_t other = 0; other < devices(c.mesh); ++other)
    if (coordinate(c.mesh, both, other) == here) mine[coordinate(c.mesh, axes, other)] = 1;
  return mine;
}

// Those of the largest group of a collective.
std::int64_t members(const Mesh& mesh, const Collective& one) {
  std::int64_t most = 1;
  for (const auto& group : groups_of(mesh, one)) most = std::max<std::int64_t>(most, std::ssize(group));
  return most;
}

bool one_reduction(const Case& c) {
  const auto finished = [&](const Spec& spec) { return parts(c.mesh, spec) == 1; };
  return c.op.chain.size() == 1 && finished(result(c)) &&
         (is_reshard(c) || std::ranges::all_of(c.op.operands, finished));
}

}  // namespace

std::vector<AxisId> summed_axes(const Op& op) {
  std::vector<AxisId> axes;
  const auto add = [&](const std::vector<AxisId>& more) {
    for (AxisId axis : more)
      if (std::ranges::count(axes, axis) == 0) axes.push_back(axis);
  };
  for (const Spec& operand : op.operands) add(operand.unfinished);
  for (const Contracted& at : contracted_in_both(op)) add(op.operands[at.operand].dims[at.dim].axes);
  return axes;
}

bool adds_up(const Case& c) {
  const Letters words = letters(c.op);
  const auto cutting = [&](std::vector<AxisId> axes) {
    std::erase_if(axes, [&](AxisId axis) { return c.mesh.axes[axis].size == 1; });
    return axes;
  };
  std::map<char, std::vector<AxisId>> cut;
  std::vector<AxisId> all;
  for (const Contracted& at : contracted_in_both(c.op)) {
    const std::vector<AxisId> axes = cutting(c.op.operands[at.operand].dims[at.dim].axes);
    if (axes.empty()) continue;
    const auto [found, added] = cut.emplace(words.operand[at.operand][at.dim], axes);
    if (!added && found->second != axes) return false;
    if (added) all.insert(all.end(), axes.begin(), axes.end());
  }
  for (const Spec& spec : c.op.operands)
    for (AxisId axis : cutting(spec.unfinished)) all.push_back(axis);
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) == all.end();
}

std::vector<Tensor> seen(const Wanted& wanted, const std::vector<AxisId>& chosen, std::int64_t device) {
  const Case& c = wanted.c;
  std::vector<Tensor> operands = wanted.operands;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!c.op.operands[i].unfinished.empty())
      take_away(operands[i], c.op.operands[i].reduction,
                pieces_of(c, c.op.operands[i].unfinished, chosen, device));
  for (const Contracted& at : contracted_in_both(c.op)) {
    const Spec& spec = c.op.operands[at.operand];
    const Dim& dim = spec.dims[at.dim];
    const std::vector<char> pieces = pieces_of(c, dim.axes, chosen, device);
    std::vector<char> keep(dim.size);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Range range = piece(c.mesh, dim, c.rule, i);
      if (pieces[i]) std::fill(keep.begin() + range.begin, keep.begin() + range.end, 1);
    }
    keep_only(operands[at.operand], at.dim + (spec.unfinished.empty() ? 0 : 1), keep);
  }
  return operands;
}

std::optional<Order> order_said(const Case& c, const Trace& trace) {
  if (!one_reduction(c)) return std::nullopt;
  Order all;
  std::int64_t joined = 1;
  for (const Collective& one : trace) {
    if (one.kind == "send") return std::nullopt;
    const std::int64_t n = members(c.mesh, one);
    if (!reduces(one) || extreme_named(one.op) || n == 1) continue;
    if (one.roundings == 0 || one.times != 1) return std::nullopt;
    all.additions += one.additions, all.roundings += one.roundings, joined *= n;
  }
  if (joined == 1 || joined != axes_size(c.mesh, summed_axes(c.op))) return std::nullopt;
  // A mean rounds twice more, as in reduction().
  if (!c.op.operands[0].averaged.empty()) all.additions += 2, all.roundings += 2;
  return all;
}

bool only_copied(const Case& c) {
  const auto finished = [&](const Spec& spec) { return parts(c.mesh, spec) == 1; };
  const Spec& to = result(c);
  return is_reshard(c) && finished(c.op.operands[0]) &&
         std::all_of(c.op.chain.begin(), c.op.chain.end() - 1, finished) && !finished(to) &&
         std::ranges::all_of(to.unfinished, [&](AxisId axis) { return contains(to.averaged, axis); });
}

}  // namespace plumb
