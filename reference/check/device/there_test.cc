#include "reference/check/device/there.h"

#include <gtest/gtest.h>

#include <random>

#include "reference/check/device/testing/written.h"
#include "reference/check/digest.h"
#include "reference/check/testing/provable.h"

namespace plumb {
namespace {

void expect_same(const Proof& here, const Proof& there, const std::string& what) {
  EXPECT_EQ(here.answer, there.answer) << what << ": " << here.text << " | " << there.text;
  EXPECT_EQ(here.text, there.text) << what;
  EXPECT_EQ(here.index, there.index) << what;
  EXPECT_EQ(here.want, there.want) << what;
  EXPECT_EQ(here.got, there.got) << what;
}

void expect_same_proofs(const WantedBlocks& blocks, std::size_t device, const std::string& what) {
  const InPlace block{0, blocks.slices[device], blocks.bytes[device]};
  expect_same(prove(blocks.made, block, 7), prove_there(check_here(), blocks.made, block, 7), what);
  EXPECT_EQ(digest_of(blocks.whole.dtype, blocks.whole.shape, block.slice, block.bytes, 7),
            digest_there(check_here(), blocks.made, block, 7))
      << what;
  const std::uint64_t signs =
      digest_of_signs(blocks.whole.dtype, blocks.whole.shape, block.slice, block.bytes, 7);
  EXPECT_EQ(signs, digest_signs_there(check_here(), blocks.made, block, 7)) << what;
  if (is_reshard(blocks.made.c)) return;
  // What it adds up to is known before it is there.
  const Awaited wanted = awaited_there(check_here(), blocks.made, block.slice, 8);
  const Proof proof = prove_there(check_here(), blocks.made, block, wanted);
  expect_same(prove(blocks.made, block, 8), proof, what);
  if (proof.answer == Proof::Answer::proved) EXPECT_EQ(proof.signs, signs != 0) << what;
}

// Law: kernels say of a block what this processor says, of right ones and of those with one bit planted,
// which is named at its place.
TEST(There, KernelsSayOfEveryBitWhatThisProcessorSays) {
  std::mt19937_64 random(3);
  for (const char* line : kProvable) {
    WantedBlocks blocks(line);
    for (std::size_t device = 0; device < blocks.bytes.size(); ++device) {
      expect_same_proofs(blocks, device, line);
      std::vector<std::byte>& bytes = blocks.bytes[device];
      for (int tries = 0; tries < 12 && !bytes.empty(); ++tries) {
        std::byte& byte = bytes[random() % bytes.size()];
        const auto bit = std::byte{1} << random() % 8;
        byte ^= bit;
        expect_same_proofs(blocks, device, line);
        byte ^= bit;
      }
    }
  }
}

// Rows in each other's place, and a block of nothing but one byte: many elements are wrong, and the same is
// found.
TEST(There, KernelsFindTheSameOfManyWrongElements) {
  for (const char* line : kProvable) {
    WantedBlocks blocks(line);
    std::vector<std::byte>& bytes = blocks.bytes[0];
    const auto half = static_cast<std::ptrdiff_t>(bytes.size() / 2);
    std::swap_ranges(bytes.begin(), bytes.begin() + half, bytes.begin() + half);
    expect_same_proofs(blocks, 0, line);
    for (int byte : {0, 0x3c, 0xff}) {
      std::ranges::fill(bytes, std::byte(byte));
      expect_same_proofs(blocks, 0, line);
    }
  }
}

// Larger than what is written, and weighed in pieces, at once.
TEST(There, SumsInPiecesAreTheSame) {
  for (const char* line : {"on x=2: einsum mk,kn->mn bf16[64,3000] bf16[3000,500] -> f32[64,500@x]",
                           "on x=2: einsum km,nk->mn bf16[3000,64] bf16[500,3000] -> f32[64@x,500]",
                           "on x=2: einsum mk,kn->mn s8[64,3000] s8[3000,100] -> s32[64@x,100]"}) {
    WantedBlocks blocks(line);
    expect_same_proofs(blocks, 1, line);
    blocks.bytes[1][4321] ^= std::byte{4};
    expect_same_proofs(blocks, 1, line);
  }
}

TEST(There, WritesTheDataOfEveryOperand) {
  for (const char* line : kProvable) expect_as_the_recipe_says(check_here(), parse_case(line));
}

}  // namespace
}  // namespace plumb
