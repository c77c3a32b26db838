#include "harness/judge/claimed.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "harness/trace/infer_layout.h"
#include "harness/trace/slices.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// The claim as a spec; nullopt where a plan claims what is none, which the judge says first.
std::optional<Spec> claimed_spec(const Case& c, const Outcome& outcome) {
  const std::optional<std::string> claim = claim_of(outcome);
  return claim ? layout_named(*claim, c.mesh).spec : std::nullopt;
}

// Why a result cannot have this layout; empty where it can.
std::string impossible_claim(const Case& c, const Spec& claimed) {
  const Spec& asked = result(c);
  if (claimed.dtype != asked.dtype) return fmt::format("the result is {}", format(asked.dtype).name);
  if (shape(claimed) != shape(asked)) return "its shape is another";
  if (parts(c.mesh, claimed) > 1) return "it leaves a sum unfinished";
  if (const auto axis = axis_outside(c, claimed))
    return fmt::format("the program is not written over {}", c.mesh.axes[*axis].name);
  return "";
}

Fact misplaced(std::string text) { return fact(Status::misplaced, std::move(text)); }

// How many slices hold each element.
std::vector<std::int64_t> holders(const Case& c, const std::vector<Slice>& slices) {
  std::vector<std::int64_t> held(elements(result(c)));
  for (const Slice& slice : slices)
    each_run(shape(result(c)), slice, [&](std::int64_t from, std::int64_t, std::int64_t count) {
      for (std::int64_t i = from; i < from + count; ++i) ++held[i];
    });
  return held;
}

// Whether sizes cut into so many pieces in all can have first pieces as long as these: flat and nested cuts
// alike begin with the size divided by the number of pieces, rounded up.
//   [8] in 4    [2]    not [8] or [4]
//   [5] in 4    [2]                        [1] in 4    [1]
bool cuts(std::span<const std::int64_t> sizes, std::span<const std::int64_t> first, std::int64_t pieces) {
  if (sizes.empty()) return pieces == 1;
  for (std::int64_t k = 1; k <= pieces; ++k)
    if (pieces % k == 0 && (sizes[0] + k - 1) / k == first[0] &&
        cuts(sizes.subspan(1), first.subspan(1), pieces / k))
      return true;
  return false;
}

// Whether some layout divides the array so: every element lies on as many devices, and no piece is longer
// than if all the other devices had one too. One device with all of it, the others with nothing, is none.
bool divided_evenly(const Case& c, const std::vector<Slice>& slices, const std::vector<std::int64_t>& held) {
  const auto all_devices = static_cast<std::int64_t>(slices.size());
  if (held.empty()) return true;
  if (all_devices % held.front() != 0) return false;
  if (std::ranges::any_of(held, [&](std::int64_t n) { return n != held.front(); })) return false;
  std::vector<std::int64_t> longest(result(c).dims.size());
  for (const Slice& slice : slices)
    for (std::size_t d = 0; d < slice.size() && elements(slice) > 0; ++d)
      longest[d] = std::max(longest[d], slice[d].size());
  return cuts(shape(result(c)), longest, all_devices / held.front());
}

}  // namespace

NamedLayout layout_named(const std::string& text, const Mesh& mesh) {
  try {
    return {parse_spec(text, mesh), ""};
  } catch (const BadInput& bad) {
    return {std::nullopt, bad.what()};
  }
}

std::optional<AxisId> axis_outside(const Case& c, const Spec& layout) {
  std::vector<AxisId> named = layout.unfinished;
  for (const Dim& dim : layout.dims) named.insert(named.end(), dim.axes.begin(), dim.axes.end());
  for (AxisId axis : named)
    if (!c.sub.empty() && std::ranges::count(c.sub, axis) == 0) return axis;
  return std::nullopt;
}

std::optional<std::string> claim_of(const Outcome& outcome) {
  return outcome.claims.empty() ? std::nullopt : outcome.claims.front();
}

Case as_claimed(const Case& c, const Outcome& outcome) {
  if (!result(c).free) return c;
  std::optional<Spec> claimed = claim_of(outcome) ? claimed_spec(c, outcome) : layout_of_slices(c, outcome);
  if (!claimed || !impossible_claim(c, *claimed).empty()) return c;
  Case known = c;
  known.op.chain.back() = finished(std::move(*claimed));  // over axes of one device
  return known;
}

std::vector<Fact> free_facts(const Case& c, const Outcome& outcome) {
  if (const auto text = claim_of(outcome))
    return {misplaced(fmt::format("claims {}, which the free result cannot be: {}", *text,
                                  impossible_claim(c, parse_spec(*text, c.mesh))))};
  std::vector<Slice> slices;
  for (const Block& block : outcome.blocks) {
    const auto slice = joined(block);
    if (!slice)
      return {misplaced(fmt::format("claims no layout of the free result, and device {} does not say {}",
                                    block.device,
                                    block.claim ? "one range for each dimension" : "which slice it holds"))};
    slices.push_back(*slice);
  }
  if (outcome.blocks.empty()) return {};
  const std::vector<std::int64_t> held = holders(c, slices);
  const auto missing = std::ranges::find(held, 0);
  if (missing != held.end())
    return {
        misplaced(fmt::format("claims no layout of the free result, and of its {} no device "
                              "says that it holds element {}",
                              counted(elements(result(c)), "element"), missing - held.begin()))};
  if (divided_evenly(c, slices, held)) return {};
  return {
      misplaced("claims no layout of the free result, and its slices are those of none: they do not divide "
                "it evenly over the devices")};
}

}  // namespace plumb
