#include "adapters/protocol/prove_here.h"

#include <algorithm>
#include <array>
#include <new>
#include <random>

#include "reference/check/check.h"
#include "reference/check/device/there.h"
#include "reference/check/digest.h"
#include "reference/words/element.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// A result that was left free is proved as it is claimed.
Case claimed_case(Case c, const Outcome& outcome) {
  if (result(c).free && outcome.claims[0]) c.op.chain.back() = parse_spec(*outcome.claims[0], c.mesh);
  return c;
}

Slice slice_of(const Block& block) {
  Slice slice;
  for (const std::vector<Range>& ranges : *block.claim) slice.push_back(ranges.at(0));
  return slice;
}

// Whether all elements are like the first, zeros of both signs being alike.
void look(Proven& said, DType dtype, std::span<const std::byte> bytes) {
  const int width = format(dtype).bytes;
  const auto at = [&](std::int64_t i) {
    return without_zeros_sign(dtype, load(dtype, bytes.data() + i * width));
  };
  const std::int64_t n = std::ssize(bytes) / width;
  said.alike = true;
  if (n > 0) said.first = at(0);
  for (std::int64_t i = 1; i < n && said.alike; ++i) said.alike = at(i) == said.first;
}

// Most blocks begin with elements that are not alike.
void look_there(Proven& said, const DeviceCheck& there, DType dtype, std::span<const std::byte> bytes) {
  std::array<std::byte, 64> begin;
  const std::size_t n = std::min(bytes.size(), begin.size());
  there.memory.get(begin.data(), bytes.data(), n);
  look(said, dtype, std::span(begin).first(n));
  const std::int64_t all = std::ssize(bytes) / format(dtype).bytes;
  if (said.alike && n < bytes.size()) said.alike = there.first_unlike(dtype, all, bytes.data()) == all;
}

Proven said_of(const Proof& proof) {
  Proven said;
  using Answer = Proven::Answer;
  said.answer = proof.answer == Proof::Answer::proved    ? Answer::proved
                : proof.answer == Proof::Answer::refuted ? Answer::refuted
                                                         : Answer::unprovable;
  return said;
}

}  // namespace

struct Awaiting::Known {
  Prover made;
  std::vector<Awaited> blocks{};  // of a product
  bool told = true;               // whether digests are of all bits: who asks may ask for these then

  const Awaited* block(const Slice& slice) const {
    const auto at = std::ranges::find(blocks, slice, &Awaited::slice);
    return at == blocks.end() ? nullptr : &*at;
  }
};

namespace {

// Nothing of a block that is proved can differ but the signs of its zeros.
bool by_signs(const Awaiting::Known& known, const Proven& said) {
  return !known.told && said.answer == Proven::Answer::proved;
}

void describe(Proven& said, const Awaiting::Known& known, const InPlace& block, std::uint64_t seed) {
  const Spec& spec = results(known.made.c)[block.result];
  const auto digest = by_signs(known, said) ? digest_of_signs : digest_of;
  said.digest = digest(spec.dtype, shape(spec), block.slice, block.bytes, seed);
  look(said, spec.dtype, block.bytes);
}

Proven prove_block(const Awaiting::Known& known, const InPlace& block, std::uint64_t seed) {
  Proven said = said_of(prove(known.made, block, seed));
  describe(said, known, block, seed);
  return said;
}

Proven prove_block_there(const DeviceCheck& there, const Awaiting::Known& known, const InPlace& block,
                         std::uint64_t seed) {
  const Prover& made = known.made;
  const Awaited* wanted = known.block(block.slice);
  const Proof proof =
      wanted ? prove_there(there, made, block, *wanted) : prove_there(there, made, block, seed);
  Proven said = said_of(proof);
  try {
    if (!by_signs(known, said))
      said.digest = digest_there(there, made, block, seed);
    else if (proof.signs)
      said.digest = digest_signs_there(there, made, block, seed);
    look_there(said, there, results(made.c)[block.result].dtype, block.bytes);
  } catch (const std::bad_alloc&) {  // no memory is left there to look with
    std::vector<std::byte> here(block.bytes.size());
    there.memory.get(here.data(), block.bytes.data(), here.size());
    describe(said, known, {block.result, block.slice, here}, seed);
  }
  return said;
}

std::uint64_t drawn_here() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

// Each block that a device has of the result, once. std::bad_alloc where the device has no memory.
std::vector<Awaited> awaited_blocks(const DeviceCheck& there, const Prover& made) {
  const Case& c = made.c;
  if (is_reshard(c) || !made.unprovable.empty() || result(c).free) return {};
  std::vector<Awaited> all;
  const std::uint64_t seed = drawn_here();
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    const Slice slice = block(c.mesh, result(c), c.rule, device);
    if (std::ranges::find(all, slice, &Awaited::slice) == all.end())
      all.push_back(awaited_there(there, made, slice, seed));
  }
  return all;
}

}  // namespace

Awaiting awaiting(const Case& c, const DeviceCheck* there) {
  auto known = std::make_shared<Awaiting::Known>(prover(c));
  known->told = false;
  try {
    if (there) known->blocks = awaited_blocks(*there, known->made);
  } catch (const std::bad_alloc&) {  // then when each is there
  }
  return {c, there, std::move(known)};
}

std::vector<Awaited> awaited_sums(const Awaiting& of) {
  return of.known ? of.known->blocks : std::vector<Awaited>{};
}

std::vector<ProofRow> proofs(const Awaiting& of, const Outcome& outcome, std::uint64_t seed) {
  if (outcome.blocks.empty()) return {};  // a rank without a device
  auto known = of.known;
  if (!known || result(of.c).free)
    known = std::make_shared<Awaiting::Known>(
        prover(known ? known->made : prover(of.c), claimed_case(of.c, outcome)), std::vector<Awaited>{},
        !known);
  std::vector<ProofRow> rows(outcome.blocks.size(), row(Proven{}));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Block& block = outcome.blocks[i];
    if (!outcome.lying[i].data()) continue;
    const InPlace lies{static_cast<int>(block.result), slice_of(block), outcome.lying[i]};
    rows[i] =
        row(of.there ? prove_block_there(*of.there, *known, lies, seed) : prove_block(*known, lies, seed));
  }
  return rows;
}

}  // namespace plumb
