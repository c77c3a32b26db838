#include "harness/judge/claimed.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/blocks.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::optional<std::string> claim(const Outcome& outcome) {
  return outcome.claims.empty() ? std::nullopt : outcome.claims.front();
}

// The claim as a spec; nullopt where a plan claims what is none, which the judge says first.
std::optional<Spec> claimed_spec(const Case& c, const Outcome& outcome) {
  if (!claim(outcome)) return std::nullopt;
  return layout_named(*claim(outcome), c.mesh).spec;
}

// Why a result cannot have this layout; empty where it can.
std::string impossible(const Case& c, const Spec& claimed) {
  const Spec& asked = result(c);
  if (claimed.dtype != asked.dtype) return fmt::format("the result is {}", format(asked.dtype).name);
  if (shape(claimed) != shape(asked)) return "its shape is another";
  if (parts(c.mesh, claimed) > 1) return "it leaves a sum unfinished";
  return "";
}

Fact misplaced(std::string text) { return {Status::misplaced, std::move(text), {}, {}}; }

// The first element that no slice holds, or -1.
std::int64_t first_missing(const Case& c, const std::vector<Slice>& slices) {
  const std::vector<std::int64_t> sizes = shape(result(c));
  std::vector<char> held(elements(result(c)));
  for (const Slice& slice : slices)
    each_run(sizes, slice, [&](std::int64_t from, std::int64_t, std::int64_t count) {
      std::fill_n(held.begin() + from, count, 1);
    });
  const auto missing = std::ranges::find(held, 0);
  return missing == held.end() ? -1 : missing - held.begin();
}

}  // namespace

NamedLayout layout_named(const std::string& text, const Mesh& mesh) {
  try {
    return {parse_spec(text, mesh), ""};
  } catch (const BadInput& bad) {
    return {std::nullopt, bad.what()};
  }
}

Case as_claimed(const Case& c, const Outcome& outcome) {
  if (!result(c).free) return c;
  std::optional<Spec> claimed = claimed_spec(c, outcome);
  if (!claimed || !impossible(c, *claimed).empty()) return c;
  Case known = c;
  known.op.chain.back() = finished(std::move(*claimed));  // over axes of one device
  return known;
}

std::vector<Fact> free_facts(const Case& c, const Outcome& outcome) {
  if (const auto text = claim(outcome))
    return {misplaced(fmt::format("claims {}, which the free result cannot be: {}", *text,
                                  impossible(c, parse_spec(*text, c.mesh))))};
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
  const std::int64_t missing = first_missing(c, slices);
  if (missing < 0) return {};
  return {
      misplaced(fmt::format("claims no layout of the free result, and of its {} no device "
                            "says that it holds element {}",
                            counted(elements(result(c)), "element"), missing))};
}

}  // namespace plumb
