#include "reference/check/check.h"

#include <fmt/format.h>

#include <cassert>
#include <optional>

#include "reference/check/closed_form.h"
#include "reference/check/freivalds.h"
#include "reference/fill/fill.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr const char* kFreeParts =
    "the parts of an unfinished result are free: only what they make is wanted";

std::string why_unprovable(const Case& c, const Recipe& r) {
  if (quantizes(c.op)) return "what is quantized has scales from whole tiles, which no block holds";
  if (parts(c.mesh, result(c)) > 1) return kFreeParts;
  const Certificate exact = certificate(c);
  if (exact.scope == Certificate::Scope::none) return exact.text;
  if (!is_reshard(c) && !wraps(c) && !std::holds_alternative<Product>(r.data))
    return "the data of the product were not made to be exact";
  return "";
}

// What is wrong with the block before any element is looked at.
std::string misfit(const Case& c, const InPlace& block) {
  const Spec& spec = result(c);
  if (block.result != 0) return fmt::format("there is no result {}", block.result);
  if (block.slice.size() != spec.dims.size()) return "the slice has another rank than the result";
  for (std::size_t d = 0; d < spec.dims.size(); ++d)
    if (block.slice[d].begin < 0 || block.slice[d].end < block.slice[d].begin ||
        block.slice[d].end > spec.dims[d].size)
      return fmt::format("the slice {} lies outside of the result", print(block.slice));
  const std::int64_t due = elements(block.slice) * format(spec.dtype).bytes;
  if (std::ssize(block.bytes) == due) return "";
  return fmt::format("the block has {}, its slice {}", counted(std::ssize(block.bytes), "byte"), due);
}

// What is known of it before any element is looked at.
std::optional<Proof> unlooked(const Prover& p, const InPlace& block) {
  if (!p.unprovable.empty()) return Proof{Proof::Answer::unprovable, p.unprovable};
  if (std::string wrong = misfit(p.c, block); !wrong.empty())
    return Proof{Proof::Answer::refuted, std::move(wrong)};
  return std::nullopt;
}

}  // namespace

Prover prover(const Case& c) {
  if (is_resolve(c)) return {c, {}, "a resolve has no data"};
  Recipe r = recipe(c);
  std::string why = why_unprovable(c, r);
  return {c, std::move(r), std::move(why)};
}

Prover prover(Prover made, const Case& claimed) {
  if (made.unprovable.empty() && parts(claimed.mesh, result(claimed)) > 1) made.unprovable = kFreeParts;
  made.c = claimed;
  return made;
}

Proof prove(const Prover& p, const InPlace& block, std::uint64_t seed) {
  return prove(p, block, seed, {prove_elements, weigher_here<PrimeField>(p), weigher_here<WordLanes>(p)});
}

Proof prove(const Prover& p, const InPlace& block, std::uint64_t seed, const Ways& ways) {
  if (const auto before = unlooked(p, block)) return *before;
  if (is_reshard(p.c)) return ways.elements(p, block);
  return prove_product(p, block, awaited(p, block.slice, seed, ways), ways);
}

Proof prove(const Prover& p, const InPlace& block, const Awaited& wanted, const Ways& ways) {
  assert(!is_reshard(p.c) && wanted.slice == block.slice);
  if (const auto before = unlooked(p, block)) return *before;
  return prove_product(p, block, wanted, ways);
}

}  // namespace plumb
