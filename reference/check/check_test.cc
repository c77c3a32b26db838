#include "reference/check/check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "reference/check/closed_form.h"
#include "reference/check/testing/provable.h"
#include "reference/fill/fill.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Answer = Proof::Answer;

TEST(Check, ProvesTheBlocksThatAreWanted) {
  for (const char* line : kProvable) {
    const WantedBlocks blocks(line);
    EXPECT_EQ(blocks.made.unprovable, "") << line;
    EXPECT_EQ(blocks.refuted(), 0) << line;
  }
}

// Each bit of an element in turn, zeros of another sign apart.
TEST(Check, RefutesEverySingleBitAtItsPlace) {
  std::mt19937_64 random(1);
  for (const char* line : kProvable) {
    WantedBlocks blocks(line);
    const DType dtype = blocks.whole.dtype;
    const int size = format(dtype).bytes;
    for (int bit = 0; bit < 8 * size; ++bit) {
      const std::size_t device = random() % blocks.bytes.size();
      std::vector<std::byte>& bytes = blocks.bytes[device];
      if (bytes.empty()) continue;
      const auto element = static_cast<std::int64_t>(random() % (bytes.size() / size));
      std::byte* at = bytes.data() + element * size;
      const std::uint64_t want = load(dtype, at), got = want ^ std::uint64_t{1} << bit;
      store(dtype, at, got);
      const Proof proof = blocks.proof(device, random());
      if (!same_element(blocks.c, want, got)) {
        ASSERT_EQ(proof.answer, Answer::refuted) << line << " bit " << bit;
        EXPECT_EQ(proof.want, want) << line << proof.text;
        EXPECT_EQ(proof.got, got) << line << proof.text;
        EXPECT_EQ(proof.index, index_in(blocks.slices[device], element)) << line << proof.text;
      } else {
        EXPECT_EQ(proof.answer, Answer::proved) << line << " bit " << bit;
      }
      store(dtype, at, want);
    }
  }
}

// Law, of elements drawn, neighbours among them: no two stand at each other's place, whatever is left as it
// was by that: the sum of their row, of their column, of all.
TEST(Check, RefutesEveryExchangeOfTwoElements) {
  std::mt19937_64 random(2);
  for (const char* line : kProvable) {
    WantedBlocks blocks(line);
    const int size = format(blocks.whole.dtype).bytes;
    for (std::size_t device = 0; device < blocks.bytes.size(); ++device) {
      std::vector<std::byte>& bytes = blocks.bytes[device];
      const auto count = static_cast<std::int64_t>(bytes.size()) / size;
      for (int tries = 0; count > 1 && tries < 12; ++tries) {
        const auto i = static_cast<std::int64_t>(random() % (count - 1));
        for (const std::int64_t j : {i + 1, i + 1 + static_cast<std::int64_t>(random() % (count - i - 1))}) {
          std::byte *one = bytes.data() + i * size, *other = bytes.data() + j * size;
          const std::uint64_t a = load(blocks.whole.dtype, one), b = load(blocks.whole.dtype, other);
          if (same_element(blocks.c, a, b)) continue;
          std::swap_ranges(one, one + size, other);
          EXPECT_EQ(blocks.proof(device, random()).answer, Answer::refuted) << line << " " << i << " " << j;
          std::swap_ranges(one, one + size, other);
        }
      }
    }
  }
}

// A sum without one of its parts, a product without one of its terms, rows and blocks at each other's place.
TEST(Check, RefutesWhatShardingGetsWrong) {
  for (const char* line :
       {"on x=4: reshard f32[8,6]+x -> f32[8@x,6]", "on x=2,y=2: reshard bf16[8,6@x] -> bf16[8@y.x,6]",
        "on x=4: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,6] -> bf16[8@x,6]",
        "on x=4: einsum mk,kn->mn s8[8,64@x] s8[64@x,6] -> s32[8@x,6]",
        "on x=4: grouped fwd f32[8@x,6] f32[3,6,6] sizes=3,1,4 -> f32[8@x,6]"}) {
    WantedBlocks blocks(line);
    std::swap(blocks.bytes[0], blocks.bytes[1]);
    EXPECT_EQ(blocks.refuted(), 2) << line << ": swapped blocks";
    std::swap(blocks.bytes[0], blocks.bytes[1]);
    const auto row = static_cast<std::ptrdiff_t>(blocks.bytes[2].size() / 2);
    std::swap_ranges(blocks.bytes[2].begin(), blocks.bytes[2].begin() + row, blocks.bytes[2].begin() + row);
    EXPECT_EQ(blocks.refuted(), 1) << line << ": swapped rows";
  }
  for (const char* line :
       {"on x=4: reshard f32[8,6]+x -> f32[8@x,6]", "on x=4: reshard f32[8]+avg(x) -> f32[8@x]",
        "on x=4: einsum mk,kn->mn bf16[8,4]+x bf16[4,6] -> bf16[8@x,6]"}) {
    WantedBlocks blocks(line);
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < blocks.c.op.operands.size(); ++i)
      operands.push_back(fill(blocks.c, static_cast<int>(i)));
    std::fill(operands[0].bytes.begin(), operands[0].bytes.begin() + std::ssize(operands[0].bytes) / 4,
              std::byte{});
    blocks.cut_all(evaluate(blocks.c, operands));
    EXPECT_EQ(blocks.refuted(), 4) << line << ": a part dropped";
  }
  WantedBlocks product("on x=4: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,6] -> bf16[8@x,6]");
  std::vector<Tensor> operands{fill(product.c, 0), fill(product.c, 1)};
  for (std::int64_t row = 0; row < 8; ++row)
    std::memset(operands[0].bytes.data() + (row * 64 + 17) * 2, 0, 2);
  product.cut_all(evaluate(product.c, operands));
  EXPECT_EQ(product.refuted(), 4);
}

TEST(Check, NamesWhereMovedBitsCameFrom) {
  WantedBlocks blocks("on x=4: reshard f32[8@x] -> f32[8@x]");
  std::swap(blocks.bytes[0], blocks.bytes[3]);
  const std::string text = blocks.proof(0).text;
  EXPECT_TRUE(text.starts_with("at [0]: want ") && text.ends_with(", which is the element [6]")) << text;
}

TEST(Check, SaysWhatHasNoProof) {
  const std::map<std::string, std::string> rows{
      {"on x=2: reshard f32[8] -> f32[8]+x",                                 "unfinished"      },
      {"on x=2: reshard f32[8]+x -> f32[8] fill=normal",                     "round"           },
      {"on x=2: einsum mk,kn->mn f32[4,8] f32[8,4] -> f32[4,4] fill=normal", "round"           },
      {"on x=2: einsum mk,kn->mn bf16[4,32]~mxfp8 bf16[32,4] -> f32[4,4]",   "scales"          },
      {"on x=2: quantize fp8 bf16[8@x,6] -> f8e4m3[8@x,6] f32[]",            "scales"          },
      {"on x=2: resolve first f32[8'embed] rules=embed:x",                   "no data"         },
      {"on x=300: reshard f8e5m2[4]+avg(x) -> f8e5m2[4]",                    "the bound judges"},
  };
  for (const auto& [line, why] : rows) {
    const Proof proof = prove(prover(parse_case(line)), {0, {{0, 1}}, {}}, 1);
    EXPECT_EQ(proof.answer, Answer::unprovable) << line;
    EXPECT_NE(proof.text.find(why), std::string::npos) << line << ": " << proof.text;
  }
}

TEST(Check, RefutesABlockThatDoesNotFit) {
  const WantedBlocks blocks("on x=2: reshard f32[8@x] -> f32[8]");
  const std::vector<std::byte>& bytes = blocks.bytes[0];
  const struct {
    InPlace block;
    const char* says;
  } rows[] = {
      {{0, {{0, 7}}, bytes},         "the block has 32 bytes, its slice 28"      },
      {{0, {{1, 9}}, bytes},         "lies outside of the result"                },
      {{0, {{-1, 7}}, bytes},        "lies outside of the result"                },
      {{0, {{5, 4}}, bytes},         "lies outside of the result"                },
      {{0, {{0, 8}, {0, 1}}, bytes}, "the slice has another rank than the result"},
      {{1, {{0, 8}}, bytes},         "there is no result 1"                      },
  };
  for (const auto& row : rows) {
    const Proof proof = prove(blocks.made, row.block, 1);
    EXPECT_EQ(proof.answer, Answer::refuted) << row.says;
    EXPECT_NE(proof.text.find(row.says), std::string::npos) << proof.text;
  }
  EXPECT_EQ(prove(blocks.made, {0, {{0, 8}}, bytes}, 1).answer, Answer::proved);
}

// Rows longer than a chunk, in two dimensions: every element is compared, of a sum and of a product.
TEST(Check, EveryRowOfALargeBlockIsCompared) {
  for (const char* line : {"on x=2: reshard f8e4m3[4@x,3,20000] -> f8e4m3[4,3,20000]",
                           "on x=2: einsum abk,kn->abn s8[2,3,2@x] s8[2@x,20000] -> s32[2,3,20000]"}) {
    WantedBlocks blocks(line);
    EXPECT_EQ(blocks.refuted(), 0) << line;
    const int size = format(blocks.whole.dtype).bytes;
    for (std::int64_t element = 7; element < elements(blocks.whole.shape); element += 9999) {
      std::byte* at = blocks.bytes[0].data() + element * size;
      *at ^= std::byte{0x41};
      EXPECT_EQ(blocks.proof(0, 5).index, index_in(blocks.slices[0], element)) << line;
      *at ^= std::byte{0x41};
    }
  }
}

// Law: the chunks of a slice are its dense block in order.
TEST(Check, ChunksTileTheirSlice) {
  const Slice slice{
      {1, 4},
      {0, 5},
      {2, 9}
  };
  for (std::int64_t most : {1, 2, 6, 7, 8, 20, 34, 35, 36, 69, 70, 104, 105, 1000}) {
    std::int64_t next = 0;
    each_chunk(slice, most, [&](const Slice& part, std::int64_t from) {
      EXPECT_LE(elements(part), most);
      EXPECT_EQ(from, next);
      EXPECT_EQ(index_in(slice, from), index_in(part, 0));
      EXPECT_EQ(index_in(slice, from + elements(part) - 1), index_in(part, elements(part) - 1));
      next += elements(part);
    });
    EXPECT_EQ(next, elements(slice)) << most;
  }
}

}  // namespace
}  // namespace plumb
