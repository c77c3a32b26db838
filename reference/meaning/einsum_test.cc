#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "reference/meaning/meaning.h"
#include "reference/meaning/product.h"
#include "reference/meaning/settle.h"
#include "reference/meaning/testing/naive.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::vector<double> doubles(const Tensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < elements(t.shape); ++i) all.push_back(value(t, i));
  return all;
}

// Any letters: batch, several free, several contracted, outputs in any order, scalars, empty ones.
TEST(Einsum, AgreesWithTheDefinition) {
  const char* lines[] = {
      "on x=1: einsum mk,kn->mn f32[3,4] f32[4,5] -> f32[3,5]",
      "on x=1: einsum mk,kn->nm f32[3,4] f32[4,5] -> f32[5,3]",
      "on x=1: einsum km,nk->mn f32[4,3] f32[5,4] -> f32[3,5]",
      "on x=1: einsum bmk,bkn->bmn bf16[2,3,4] f8e4m3[2,4,5] -> f32[2,3,5]",
      "on x=1: einsum mbk,knb->nmb f16[3,2,4] bf16[4,5,2] -> f32[5,3,2]",
      "on x=1: einsum bsh,bsf->hf f32[2,3,4] f32[2,3,5] -> f32[4,5]",
      "on x=1: einsum sbh,bsf->fh f32[3,2,4] f32[2,3,5] -> f32[5,4]",
      "on x=1: einsum abkl,lcdk->dacb f32[2,3,4,5] f32[5,2,3,4] -> f32[3,2,2,3]",
      "on x=1: einsum akbl,kcl->cab f32[2,3,4,5] f32[3,2,5] -> f32[2,2,4]",
      "on x=1: einsum k,k-> f32[7] f32[7] -> f32[]",
      "on x=1: einsum m,n->mn f32[3] f32[4] -> f32[3,4]",
      "on x=1: einsum m,->m f32[3] f32[] -> f32[3]",
      "on x=1: einsum ,-> f32[] f32[] -> f32[]",
      "on x=1: einsum b,b->b f32[6] f32[6] -> f32[6]",
      "on x=1: einsum bm,b->mb f32[3,4] f32[3] -> f32[4,3]",
      "on x=1: einsum mk,kn->mn f32[3,0] f32[0,5] -> f32[3,5]",
      "on x=1: einsum mk,kn->mn f32[0,4] f32[4,5] -> f32[0,5]",
      "on x=1: einsum amk,akn->nma f32[0,2,3] f32[0,3,2] -> f32[2,2,0]",
      // batches of nothing, more than can be gone through
      "on x=1: einsum amk,akn->amn f32[4000000000000000,0,0] f32[4000000000000000,0,5] -> "
      "f32[4000000000000000,0,5]",
      "on x=1: einsum amk,akn->amn f32[4000000000000000,5,0] f32[4000000000000000,0,0] -> "
      "f32[4000000000000000,5,0]",
      "on x=1: einsum mk,kn->mn s8[3,4] s8[4,5] -> s32[3,5]",
      "on x=1: einsum mk,kn->mn f64[3,4] f32[4,5] -> f64[3,5]",
      "on x=2: einsum mk,kn->mn f32[3,4]+x f32[4,5] -> f32[3,5]",
      "on x=2,y=3: einsum mk,kn->nm bf16[3,4]+x f16[4,5]+y.x -> f32[5,3]",
      "on x=1: einsum mk,kn->mn f32[3,4]+x f32[4,5]+x -> f32[3,5]",
      "on x=3: einsum mk,kn->mn s8[3,4]+x s8[4,5]+x -> s32[3,5]",
      "on x=2: einsum mk,kn->mn f32[3,4] f32[4,5] -> f32[3,5]+x -> f32[3,5@x]",
  };
  std::mt19937_64 random(1);
  for (const char* line : lines) {
    const Case c = parse_case(line);
    const std::vector<Tensor> operands{naive::operand(c, 0, 9, random), naive::operand(c, 1, 9, random)};
    const Tensor got = evaluate(c, operands);
    EXPECT_EQ(got.dtype, result(c).dtype) << line;
    EXPECT_EQ(got.shape, shape(result(c))) << line;
    EXPECT_EQ(naive::values(got), naive::einsum(c, operands)) << line;
  }
}

// Letters drawn at random: each is batch, free or contracted, and every order is shuffled.
TEST(Einsum, AgreesWithTheDefinitionForDrawnLetters) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 400; ++i) {
    Case c;
    c.mesh = parse_mesh("x=2,y=3");
    Einsum op;
    naive::Index size;
    for (char letter = 'a'; letter < 'a' + static_cast<int>(random() % 7); ++letter) {
      const auto where = random() % 4;  // lhs and out, rhs and out, both, all
      size[letter] = static_cast<std::int64_t>(1 + random() % 4);
      if (where != 1) op.lhs += letter;
      if (where != 0) op.rhs += letter;
      if (where != 2) op.out += letter;
    }
    for (std::string* word : {&op.lhs, &op.rhs, &op.out}) std::shuffle(word->begin(), word->end(), random);
    const auto spec = [&](const std::string& word, bool unfinished) {
      Spec s{DType::f32, {}, {}};
      for (char letter : word) s.dims.push_back({size[letter], {}});
      if (unfinished) s.unfinished = {static_cast<AxisId>(random() % 2)};
      return s;
    };
    c.op = {
        op, {spec(op.lhs,         random() % 3 == 0), spec(op.rhs, random() % 3 == 0)},
         {spec(op.out, false)                  }
    };
    const std::vector<Tensor> operands{naive::operand(c, 0, 9, random), naive::operand(c, 1, 9, random)};
    ASSERT_EQ(naive::values(evaluate(c, operands)), naive::einsum(c, operands)) << print(c);
  }
}

TEST(Einsum, IntegersWrap) {
  const Case c = parse_case("on x=1: einsum mk,kn->mn s32[1,2] s32[2,1] -> s32[1,1]");
  const double big = 1 << 30;
  EXPECT_EQ(
      doubles(evaluate(c, {tensor(DType::s32, {1, 2}, {big, big}), tensor(DType::s32, {2, 1}, {2, 1})})),
      (std::vector<double>{-big}));
  const Case narrow = parse_case("on x=1: einsum mk,kn->mn s8[1,1] s8[1,1] -> s8[1,1]");
  EXPECT_EQ(doubles(evaluate(narrow, {tensor(DType::s8, {1, 1}, {100}), tensor(DType::s8, {1, 1}, {3})})),
            (std::vector<double>{44}));
}

// The sum 257 and the sum 1 are not rounded before they are multiplied: bf16 lacks the first, and no
// double holds the second on its way.
TEST(Einsum, AnUnfinishedOperandIsItsExactSum) {
  const Case narrow = parse_case("on x=2: einsum k,k-> bf16[1]+x bf16[1] -> f32[]");
  EXPECT_EQ(doubles(evaluate(narrow, {tensor(DType::bf16, {2, 1}, {256, 1}), tensor(DType::bf16, {1}, {3})})),
            (std::vector<double>{771}));
  const Case wide = parse_case("on x=3: einsum k,k-> f32[1]+x f32[1]+x -> f32[]");
  const Tensor one = tensor(DType::f32, {3, 1}, {0x1p100, 1, -0x1p100});
  EXPECT_EQ(doubles(evaluate(wide, {one, one})), (std::vector<double>{1}));
  const Tensor tiny = tensor(DType::f32, {3, 1}, {0x1p60, 0x1p-60, 0x1p0}),
               minus = tensor(DType::f32, {3, 1}, {1, 0, 0});
  EXPECT_EQ(doubles(evaluate(wide, {tiny, minus})), (std::vector<double>{0x1p60}));
  const Case s8 = parse_case("on x=2: einsum k,k-> s8[1]+x s8[1] -> s32[]");
  EXPECT_EQ(doubles(evaluate(s8, {tensor(DType::s8, {2, 1}, {100, 100}), tensor(DType::s8, {1}, {3})})),
            (std::vector<double>{600}));
}

TEST(Settle, KeepsTheSumInTheFewestParts) {
  struct {
    std::vector<double> parts, settled;
  } const rows[] = {
      {{1, 2, 3},                    {6}                  },
      {{0x1p100, 1, -0x1p100},       {1}                  },
      {{0x1p100, 1, 0},              {0x1p100, 1}         },
      {{0x1p60, 1, 0x1p-60},         {0x1p60, 1, 0x1p-60} },
      {{0x1p-149, 0x1p-149, 0},      {0x1p-148}           },
      {{0, 0, 0},                    {0}                  },
      {{0x1p127, 0x1p127, -0x1p127}, {0x1p127}            },
      {{0x1p127, 0x1p127, 0},        {0x1p127, 0x1p127, 0}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(doubles(settle(tensor(DType::f32, {3, 1}, row.parts))), row.settled) << row.parts[0];
}

}  // namespace
}  // namespace plumb
