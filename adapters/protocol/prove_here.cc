#include "adapters/protocol/prove_here.h"

#include <new>

#include "reference/check/check.h"
#include "reference/check/device/there.h"
#include "reference/check/digest.h"
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

// Zeros of both signs are alike.
void look(Proven& said, DType dtype, std::span<const std::byte> bytes) {
  const int width = format(dtype).bytes;
  const auto at = [&](std::int64_t i) { return load(dtype, bytes.data() + i * width); };
  const auto zero = [&](std::uint64_t bits) { return dtype != DType::e8m0 && decode(dtype, bits) == 0; };
  const std::int64_t n = std::ssize(bytes) / width;
  said.alike = true;
  if (n == 0) return;
  said.first = zero(at(0)) ? 0 : at(0);
  for (std::int64_t i = 1; i < n && said.alike; ++i) said.alike = (zero(at(i)) ? 0 : at(i)) == said.first;
}

void describe(Proven& said, const Prover& made, const InPlace& block, std::uint64_t seed) {
  const Spec& spec = results(made.c)[block.result];
  said.digest = digest_of(spec.dtype, shape(spec), block.slice, block.bytes, seed);
  look(said, spec.dtype, block.bytes);
}

void describe_there(Proven& said, const DeviceCheck& there, const Prover& made, const InPlace& block,
                    std::uint64_t seed) {
  const DType dtype = results(made.c)[block.result].dtype;
  said.digest = digest_there(there, made, block, seed);
  const std::int64_t n = elements(block.slice);
  said.alike = there.first_unlike(dtype, n, block.bytes.data()) == n;
  if (n == 0) return;
  const std::uint64_t first = bits_there(there, dtype, block.bytes.data(), 0);
  said.first = dtype != DType::e8m0 && decode(dtype, first) == 0 ? 0 : first;
}

Proven prove_block(const Prover& made, const InPlace& block, std::uint64_t seed, const DeviceCheck* there) {
  const Proof proof = there ? prove_there(*there, made, block, seed) : prove(made, block, seed);
  Proven said;
  using Answer = Proven::Answer;
  said.answer = proof.answer == Proof::Answer::proved    ? Answer::proved
                : proof.answer == Proof::Answer::refuted ? Answer::refuted
                                                         : Answer::unprovable;
  if (!there) return describe(said, made, block, seed), said;
  try {
    describe_there(said, *there, made, block, seed);
  } catch (const std::bad_alloc&) {  // no memory is left there to look with
    std::vector<std::byte> here(block.bytes.size());
    there->memory.get(here.data(), block.bytes.data(), here.size());
    describe(said, made, {block.result, block.slice, here}, seed);
  }
  return said;
}

}  // namespace

std::vector<ProofRow> proofs(const Case& c, const Outcome& outcome, std::uint64_t seed,
                             const DeviceCheck* there) {
  if (outcome.blocks.empty()) return {};  // a rank without a device
  const Prover made = prover(claimed_case(c, outcome));
  std::vector<ProofRow> rows(outcome.blocks.size(), row(Proven{}));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Block& block = outcome.blocks[i];
    if (!outcome.lying[i].data()) continue;
    const InPlace lies{static_cast<int>(block.result), slice_of(block), outcome.lying[i]};
    rows[i] = row(prove_block(made, lies, seed, there));
  }
  return rows;
}

}  // namespace plumb
