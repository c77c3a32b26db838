#include <fmt/format.h>

#include <algorithm>

#include "harness/explain/explain.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

std::string joined(const Mesh& mesh, const std::vector<AxisId>& axes) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool last = i + 1 == axes.size();
    text += i == 0 ? "" : last ? " and " : ", ";
    text += mesh.axes[axes[i]].name;
  }
  return text;
}

// "4 each", or the sizes of the pieces where they differ.
std::string pieces_text(const Case& c, const Dim& dim) {
  const std::int64_t n = axes_size(c.mesh, dim.axes);
  constexpr std::int64_t shown = 16;
  std::string sizes;
  bool even = true;
  const std::int64_t first = piece(c.mesh, dim, c.rule, 0).size();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t size = piece(c.mesh, dim, c.rule, i).size();
    even &= size == first;
    if (i < shown) sizes += fmt::format("{}{}", i ? "," : "", size);
  }
  if (even) return fmt::format("{} of {}", counted(n, "piece"), first);
  return fmt::format("{} of {}{} ({})", counted(n, "piece"), sizes, n > shown ? ",..." : "", name(c.rule));
}

std::string dimension(const Case& c, const Dim& dim) {
  if (dim.axes.empty()) return fmt::format("{} whole", dim.size);
  if (axes_size(c.mesh, dim.axes) == 1)
    return fmt::format("{} whole: {} has one device", dim.size, joined(c.mesh, dim.axes));
  return fmt::format("{} split over {}{}, {}", dim.size, joined(c.mesh, dim.axes),
                     dim.axes.size() > 1 ? " (major first)" : "", pieces_text(c, dim));
}

std::vector<AxisId> copies(const Mesh& mesh, const Spec& spec) {
  std::vector<AxisId> rest;
  for (AxisId axis = 0; axis < static_cast<AxisId>(mesh.axes.size()); ++axis) {
    bool named = std::ranges::count(spec.unfinished, axis) > 0;
    for (const Dim& dim : spec.dims) named |= std::ranges::count(dim.axes, axis) > 0;
    if (!named && mesh.axes[axis].size > 1) rest.push_back(axis);
  }
  return rest;
}

std::string letters(const std::string& word) {
  std::string text;
  for (char c : word) text += fmt::format("{}{}", text.empty() ? "" : ",", c);
  return text;
}

std::string einsum_in_words(const Einsum& e) {
  std::string summed;
  for (char c : e.lhs)
    if (e.rhs.find(c) != e.rhs.npos && e.out.find(c) == e.out.npos)
      summed += fmt::format("{}{}", summed.empty() ? "" : ",", c);
  const std::string product = fmt::format("lhs[{}] * rhs[{}]", letters(e.lhs), letters(e.rhs));
  if (summed.empty()) return fmt::format("result[{}] = {}", letters(e.out), product);
  return fmt::format("result[{}] = the sum over {} of {}", letters(e.out), summed, product);
}

std::string grouped_in_words(const Grouped& g) {
  std::string sizes;
  for (const auto& list : g.sizes)
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " / ", fmt::join(list, ","));
  const std::string rows = fmt::format("rows lie sorted by group, {} of them", sizes);
  switch (g.form) {
    case Form::fwd:
      return "y[t,:] = x[t,:] w[group of t]; " + rows;
    case Form::dgrad:
      return "dx[t,:] = dy[t,:] w[group of t] transposed; " + rows;
    case Form::wgrad:
      return "dw[g] = the sum over the rows t of group g of x[t,:] outer dy[t,:]; " + rows;
  }
  return {};
}

// A mean is a sum that is divided.
std::string divided(const Case& c, const Spec& spec) {
  if (spec.averaged.empty()) return "";
  return fmt::format(", divided by the {} over {}", axes_size(c.mesh, spec.averaged),
                     joined(c.mesh, spec.averaged));
}

std::string reshard_in_words(const Case& c) {
  std::vector<AxisId> finished;
  for (AxisId axis : c.op.operands[0].unfinished)
    if (std::ranges::count(result(c).unfinished, axis) == 0) finished.push_back(axis);
  const std::string over = joined(c.mesh, finished);
  if (finished.empty()) return "the same array, laid out anew";
  if (axes_size(c.mesh, finished) == 1)
    return fmt::format("the same array, laid out anew: one part over {} is all there is", over);
  return fmt::format("the {} over {} is finished{}, and the array laid out anew",
                     name(c.op.operands[0].reduction), over, divided(c, c.op.operands[0]));
}

}  // namespace

std::string quantize_in_words(const Case& c) {
  const Quantize& q = std::get<Quantize>(c.op.kind);
  const std::string name(plumb::name(q.scheme));
  if (c.op.operands.size() == 3)
    return name +
           " by the scale that is given; the largest magnitude joins the history, which gives the next";
  const std::int64_t n = size(tiles(c.op));
  return fmt::format("{}: codes, and {}{}; a value is about its code times its scale", name,
                     counted(n, "scale"),
                     in_blocks(q.scheme) ? fmt::format(", one for each {} values", kBlockSize) : "");
}

std::string meaning_in_words(const Case& c) {
  if (is_quantize(c)) return quantize_in_words(c);
  if (const auto* einsum = std::get_if<Einsum>(&c.op.kind)) return einsum_in_words(*einsum);
  if (const auto* grouped = std::get_if<Grouped>(&c.op.kind)) return grouped_in_words(*grouped);
  return reshard_in_words(c);
}

std::string layout_in_words(const Case& c, const Spec& spec) {
  std::string text;
  for (std::size_t d = 0; d < spec.dims.size(); ++d)
    text += fmt::format("dimension {}: {}\n", d, dimension(c, spec.dims[d]));
  if (spec.dims.empty()) text += "a scalar\n";
  if (!spec.unfinished.empty())
    text +=
        fmt::format("an unfinished {} over {}: {}{}\n", name(spec.reduction), joined(c.mesh, spec.unfinished),
                    counted(parts(c.mesh, spec), "part"), divided(c, spec));
  if (const auto rest = copies(c.mesh, spec); !rest.empty())
    text += fmt::format("copied over {}: {} copies\n", joined(c.mesh, rest), axes_size(c.mesh, rest));
  return text;
}

}  // namespace plumb
