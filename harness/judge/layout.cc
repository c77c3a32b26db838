#include "harness/judge/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/claimed.h"
#include "harness/trace/slices.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::string claim_text(const Block& block) {
  if (const auto slice = joined(block)) return print(*slice);
  std::string text = "[";
  for (const std::vector<Range>& ranges : *block.claim) {
    if (text.size() > 1) text += ',';
    for (std::size_t i = 0; i < ranges.size(); ++i)
      text += fmt::format("{}{}:{}", i > 0 ? "&" : "", ranges[i].begin, ranges[i].end);
  }
  return text + "]";
}

// What the block says differently from the block that is asked of its device; empty where nothing.
std::string difference(const Case& c, const Block& block) {
  const Slice asked = plumb::block(c.mesh, result(c), c.rule, block.device);
  if (!block.claim) {
    const std::int64_t due = elements(asked) * format(result(c).dtype).bytes;
    if (static_cast<std::int64_t>(block.bytes) == due) return "";
    return fmt::format("holds {} instead of the {} of {}", counted(block.bytes, "byte"), due, print(asked));
  }
  const auto claimed = joined(block);
  if (claimed && same(*claimed, asked)) return "";
  return fmt::format("says it holds {} instead of {}", claim_text(block), print(asked));
}

std::vector<AxisId> without_unit_axes(const Mesh& mesh, std::vector<AxisId> axes) {
  std::erase_if(axes, [&](AxisId axis) { return mesh.axes[axis].size == 1; });
  std::ranges::sort(axes);
  return axes;
}

// Compares the claimed spec with the asked one by what each device would hold, not by its text.
std::optional<Fact> claimed_spec_fact(const Case& c, const Outcome& outcome, const std::string& claim) {
  const Spec claimed = parse_spec(claim, c.mesh);
  const Spec& asked = result(c);
  const auto misplaced = [&](const std::string& text) { return fact(Status::misplaced, text); };
  if (claimed.dtype != asked.dtype || shape(claimed) != shape(asked))
    return misplaced(fmt::format("claims {} instead of {}", claim, print(c.mesh, asked)));
  if (without_unit_axes(c.mesh, claimed.unfinished) != without_unit_axes(c.mesh, asked.unfinished))
    return misplaced(
        fmt::format("claims {}: other sums are left unfinished than in {}", claim, print(c.mesh, asked)));
  if (parts(c.mesh, asked) > 1 &&
      (claimed.reduction != asked.reduction ||
       without_unit_axes(c.mesh, claimed.averaged) != without_unit_axes(c.mesh, asked.averaged)))
    return misplaced(fmt::format("claims {}: its parts are reduced in another way than in {}", claim,
                                 print(c.mesh, asked)));
  for (std::int64_t device = 0; device < devices(c.mesh); ++device)
    if (!same(plumb::block(c.mesh, claimed, c.rule, device), plumb::block(c.mesh, asked, c.rule, device)))
      return misplaced(fmt::format("claims {} instead of {}", claim, print(c.mesh, asked)));
  for (const Block& block : outcome.blocks) {
    const auto by_slice = joined(block);
    if (block.claim && (!by_slice || !same(*by_slice, plumb::block(c.mesh, claimed, c.rule, block.device))))
      return misplaced(fmt::format("claims {} but its slices say otherwise: device {} says {}", claim,
                                   block.device, claim_text(block)));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fact> said_nothing(const Outcome& outcome) {
  const auto claims = [](const Block& block) { return block.claim.has_value(); };
  if (claim_of(outcome) || std::ranges::any_of(outcome.blocks, claims)) return std::nullopt;
  return fact(Status::mistrusted, "a plan that says nothing of its layout: nothing could have been wrong");
}

std::vector<Fact> layout_facts(const Case& c, const Outcome& outcome) {
  if (result(c).free) return free_facts(c, outcome);
  std::vector<Fact> facts;
  std::int64_t wrong = 0;
  const Block* first = nullptr;
  for (const Block& block : outcome.blocks)
    if (!difference(c, block).empty() && wrong++ == 0) first = &block;
  if (first)
    facts.push_back(fact(
        Status::misplaced,
        fmt::format("{} of {}; the first, {} ({}), {}", wrong, counted(std::ssize(outcome.blocks), "device"),
                    first->device, coordinates_text(c.mesh, first->device), difference(c, *first))));
  if (const auto claim = claim_of(outcome))
    if (auto fact = claimed_spec_fact(c, outcome, *claim)) facts.push_back(std::move(*fact));
  return facts;
}

}  // namespace plumb
