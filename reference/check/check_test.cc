#include "reference/check/check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "reference/check/closed_form.h"
#include "reference/fill/fill.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Answer = Proof::Answer;

// A case, the blocks that its meaning wants, and what their proof says.
struct Blocks {
  Case c;
  Prover made;
  Tensor whole;
  std::vector<Slice> slices;
  std::vector<std::vector<std::byte>> bytes;

  explicit Blocks(const std::string& line) : c(parse_case(line)), made(prover(c)) {
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    whole = evaluate(c, operands);
    cut_all(whole);
  }
  void cut_all(const Tensor& from) {
    slices.clear(), bytes.clear();
    for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
      slices.push_back(block(c.mesh, result(c), c.rule, device));
      bytes.emplace_back(elements(slices.back()) * format(whole.dtype).bytes);
      cut(whole.shape, slices.back(), from.bytes.data(), bytes.back().data(), format(whole.dtype).bytes);
    }
  }
  Proof proof(std::size_t device, std::uint64_t seed = 1) const {
    return prove(made, {0, slices[device], bytes[device]}, seed);
  }
  // How many blocks are refuted; every other one is proved.
  int refuted() const {
    int n = 0;
    for (std::size_t d = 0; d < bytes.size(); ++d) {
      const Proof p = proof(d);
      n += p.answer == Answer::refuted;
      EXPECT_NE(p.answer, Answer::unprovable) << p.text;
    }
    return n;
  }
};

const char* const kProvable[] = {
    "on x=4: reshard f32[8@x] -> f32[8]",
    "on x=2,y=3: reshard bf16[5@x,4@y] -> bf16[5@y,4]",
    "on x=4: reshard f8e4m3[300@x,7] -> f8e4m3[300,7@x]",
    "on a=2,b=2: reshard e8m0[5@a.b] -> e8m0[5] nested",
    "on x=2: reshard f64[3@x] -> f64[3] fill=normal",
    "on x=2: reshard f32[] -> f32[]",
    "on x=2: reshard f32[0,3@x] -> f32[0,3]",
    "on x=2,y=2: reshard f32[300,200@x]+y -> f32[300@y,200]",
    "on x=3,y=2: reshard bf16[7]+avg(x)+y -> bf16[7@x]",
    "on x=3,y=2: reshard f16[7,5]+max(x.y) -> f16[7@x,5]",
    "on x=4: reshard s8[7]+min(x) -> s8[7]",
    "on x=4: reshard s32[70]+x -> s32[70@x]",
    "on x=4: reshard s8[70]+x -> s8[70@x]",
    "on x=2: reshard s32[7]+x -> s32[7] wire=s8",
    "on x=2,y=2: reshard f8e5m2[64]+x.y -> f8e5m2[64@x]",
    "on y=2 of x=2,y=2: reshard f32[5]+y -> f32[5@y]",
    "on x=2,y=2: einsum mk,kn->mn f32[9@x,64@y] f32[64@y,7] -> f32[9@x,7]",
    "on x=2,y=2: einsum mk,kn->nm bf16[9@x,64] bf16[64,7@y] -> bf16[7@y,9@x]",
    "on x=2,y=2: einsum km,nk->mn f16[33,5@x] f16[6,33] -> f32[5,6@y]",
    "on x=2,y=2: einsum bmk,bkn->bmn f32[4@x,3,8] f32[4,8,5@y] -> f32[4@x,3,5@y]",
    "on x=2,y=2: einsum mbk,knb->nmb f32[3,4,6] f32[6,5,4@y] -> f32[5,3@x,4]",
    "on x=2,y=2: einsum akbl,lckb->ca f32[2,3,4,5@x] f32[5,6@y,3,4] -> f32[6@y,2]",
    "on x=2,y=2: einsum bsh,bsf->hf f64[4@x,3,8] f64[4,3,5@y] -> f64[8,5@y]",
    "on x=2: einsum k,k-> f32[7@x] f32[7] -> f32[]",
    "on x=2: einsum m,n->mn f32[3] f32[4@x] -> f32[3@x,4]",
    "on x=2: einsum mk,kn->mn f32[3,0] f32[0,5] -> f32[3@x,5]",
    "on x=2,y=3: einsum mk,kn->mn bf16[6,8]+x f32[8,5@x]+y -> f32[6@y,5]",
    "on x=2: einsum mk,kn->mn s8[5,9@x] s8[9,6] -> s32[5@x,6]",
    "on x=2: einsum mk,kn->mn s8[5,9]+x s8[9,6] -> s8[5@x,6]",
    "on x=2: einsum mk,kn->mn s32[5,9@x] s32[9,6] -> s32[5,6@x] wire=s8",
    "on x=2: grouped fwd f32[12@x,6] f32[3,6,5] sizes=3,0,5 -> f32[12@x,5]",
    "on x=2: grouped fwd bf16[12@x,6] bf16[3,6,5] sizes=1,2,1/0,0,6 -> bf16[12,5@x]",
    "on x=2: grouped dgrad f32[12,5] f32[3@x,6,5] sizes=3,4,5 -> f32[12,6@x]",
    "on x=2: grouped wgrad f32[12@x,6] f32[12,5] sizes=3,0,6 -> f32[3@x,6,5]",
    "on x=2: grouped wgrad s8[12@x,6] s8[12,5] sizes=1,2,1/2,0,3 -> s32[3,6@x,5]",
};

TEST(Check, ProvesTheBlocksThatAreWanted) {
  for (const char* line : kProvable) {
    const Blocks blocks(line);
    EXPECT_EQ(blocks.made.unprovable, "") << line;
    EXPECT_EQ(blocks.refuted(), 0) << line;
  }
}

// Each bit of an element in turn, zeros of another sign apart.
TEST(Check, RefutesEverySingleBitAtItsPlace) {
  std::mt19937_64 random(1);
  for (const char* line : kProvable) {
    Blocks blocks(line);
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

// A sum without one of its parts, a product without one of its terms, rows and blocks at each other's place.
TEST(Check, RefutesWhatShardingGetsWrong) {
  for (const char* line :
       {"on x=4: reshard f32[8,6]+x -> f32[8@x,6]", "on x=2,y=2: reshard bf16[8,6@x] -> bf16[8@y.x,6]",
        "on x=4: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,6] -> bf16[8@x,6]",
        "on x=4: einsum mk,kn->mn s8[8,64@x] s8[64@x,6] -> s32[8@x,6]",
        "on x=4: grouped fwd f32[8@x,6] f32[3,6,6] sizes=3,1,4 -> f32[8@x,6]"}) {
    Blocks blocks(line);
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
    Blocks blocks(line);
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < blocks.c.op.operands.size(); ++i)
      operands.push_back(fill(blocks.c, static_cast<int>(i)));
    std::fill(operands[0].bytes.begin(), operands[0].bytes.begin() + std::ssize(operands[0].bytes) / 4,
              std::byte{});
    blocks.cut_all(evaluate(blocks.c, operands));
    EXPECT_EQ(blocks.refuted(), 4) << line << ": a part dropped";
  }
  Blocks product("on x=4: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,6] -> bf16[8@x,6]");
  std::vector<Tensor> operands{fill(product.c, 0), fill(product.c, 1)};
  for (std::int64_t row = 0; row < 8; ++row)
    std::memset(operands[0].bytes.data() + (row * 64 + 17) * 2, 0, 2);
  product.cut_all(evaluate(product.c, operands));
  EXPECT_EQ(product.refuted(), 4);
}

TEST(Check, NamesWhereMovedBitsCameFrom) {
  Blocks blocks("on x=4: reshard f32[8@x] -> f32[8@x]");
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
  const Blocks blocks("on x=2: reshard f32[8@x] -> f32[8]");
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
