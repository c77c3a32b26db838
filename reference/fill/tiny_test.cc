// Law: a few wanted elements are not alike, and one alone is not zero.
#include "reference/fill/tiny.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "reference/fill/fill.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// An operand's elements, each made of its parts as the line says.
std::vector<double> reduced(const Case& c, int operand = 0) {
  const Tensor all = fill(c, operand);
  const Spec& spec = c.op.operands[operand];
  const std::int64_t n = elements(spec), count = parts(c.mesh, spec);
  std::vector<double> found;
  for (std::int64_t i = 0; i < n; ++i) {
    double one = value(all, i);
    for (std::int64_t p = 1; p < count; ++p) {
      const double other = value(all, p * n + i);
      const Reduce how = spec.reduction;
      one = how == Reduce::sum   ? one + other
            : how == Reduce::max ? std::max(one, other)
                                 : std::min(one, other);
    }
    found.push_back(one / static_cast<double>(axes_size(c.mesh, spec.averaged)));
  }
  return found;
}

TEST(Tiny, FewReducedElementsAreNotAlike) {
  for (const char* dtype : {"f8e5m2", "f8e4m3", "f16", "bf16", "f32", "s8"})
    for (const char* what :
         {"[]+x.y -> {0}[]+y", "[]+x -> {0}[]", "[2]+x.y -> {0}[2]+x", "[3]+max(x.y) -> {0}[3]",
          "[2]+min(x) -> {0}[2] -> {0}[2]+max(x.y)", "[4]+max(x) -> {0}[4] -> {0}[4]+y",
          "[3]+max(x) -> {0}[3] -> {0}[3]+x.y", "[2] -> {0}[2@x]", "[2]+avg(x) -> {0}[2]",
          "[2]+avg(x.y) -> {0}[2]+avg(y)", "[2]+avg(x) -> {0}[2] fill=normal"})
      for (int seed = 0; seed < 40; ++seed) {
        if (dtype == std::string_view("s8") && std::string_view(what).find("avg") != std::string_view::npos)
          continue;  // not of integers
        const std::string line = fmt::format("on x=3,y=2: reshard {}{} seed={}", dtype,
                                             fmt::format(fmt::runtime(what), dtype), seed);
        const Case c = parse_case(line);
        const std::vector<double> all = reduced(c);
        std::set<std::uint64_t> different;
        for (const double one : all) different.insert(encode(result(c).dtype, one));
        EXPECT_TRUE(all.size() == 1 ? all[0] != 0 : different.size() > 1) << line;
      }
}

TEST(Tiny, APatternOfNoBitsIsNotTheOnlyOne) {
  for (int seed = 0; seed < 2000; ++seed)
    EXPECT_NE(bits(fill(parse_case(fmt::format("on x=2: reshard e8m0[1] -> e8m0[1@x] seed={}", seed)), 0), 0),
              0u);
}

// Products by their terms: rows of one column, and one element of each group.
TEST(Tiny, FewSumsOfProductsAreNotAlike) {
  int alike = 0;
  for (const char* left : {"f8e5m2", "bf16", "f32"})
    for (const char* parts : {"", "+y"})
      for (int seed = 0; seed < 60; ++seed) {
        const Case c = parse_case(fmt::format(
            "on x=2,y=3: einsum mk,k->m {}[2,7]{} f8e4m3[7] -> bf16[2]+x seed={}", left, parts, seed));
        const Tensor a = fill(c, 0), b = fill(c, 1);
        double sums[2] = {};
        for (std::int64_t p = 0; p < (*parts ? 3 : 1); ++p)
          for (std::int64_t i = 0; i < 14; ++i) sums[i / 7] += value(a, 14 * p + i) * value(b, i % 7);
        alike += sums[0] == sums[1];
      }
  EXPECT_EQ(alike, 0);
}

// Terms of one magnitude: 35 sums have the signs of 7 rows and 5 columns.
TEST(Tiny, SumsOfFewRowsAndColumnsAreNotAlike) {
  for (const auto& [rows, columns] : {
           std::pair{2,  12},
           {7,  5 },
           {16, 17},
           {1,  20}
  })
    for (int seed = 0; seed < 600; ++seed) {
      const Case c =
          parse_case(fmt::format("on x=3: einsum mk,kn->mn f8e4m3[{0},1] f8e4m3[1,{1}] -> f8e5m2[{0},{1}]"
                                 " -> f8e5m2[{0},{1}]+x seed={2}",
                                 rows, columns, seed));
      const Tensor a = fill(c, 0), b = fill(c, 1);
      std::set<double> different;
      for (int m = 0; m < rows; ++m)
        for (int n = 0; n < columns; ++n) different.insert(value(a, m) * value(b, n));
      EXPECT_GT(different.size(), 1u) << print(c);
    }
}

// Many parts of few elements: 64 times 64 parts of a product wrap round to one bit of six.
TEST(Tiny, FewSumsOfManyPartsAreNotAlike) {
  int alike = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const Case c = parse_case(fmt::format("on x=64: einsum z,->z s8[6]+x s32[]+x -> s8[6] seed={}", seed));
    const Tensor a = fill(c, 0), b = fill(c, 1);
    std::int64_t sums[6] = {}, factor = 0;
    for (int p = 0; p < 64; ++p) {
      factor += static_cast<std::int64_t>(value(b, p));
      for (int i = 0; i < 6; ++i) sums[i] += static_cast<std::int64_t>(value(a, 6 * p + i));
    }
    std::set<std::int8_t> different;
    for (const std::int64_t sum : sums) different.insert(static_cast<std::int8_t>(sum * factor));
    alike += different.size() == 1;
  }
  EXPECT_EQ(alike, 0);
}

// Of 32 parts that are multiples of 32 in 8 bits one is nearly always the largest number there is, 96.
TEST(Tiny, ExtremesOfManyPartsAreNotAlike) {
  for (const char* what : {"max", "min"})
    for (const char* line : {"on x=32: reshard s8[{1}]+{0}(x) -> s8[{1}] -> s8[{1}]+x seed={2}",
                             "on x=32,y=8: reshard s8[{1}]+{0}(x.y) -> s8[{1}] -> s8[{1}]+x seed={2}"})
      for (const int n : {2, 33, 500})
        for (int seed = 0; seed < 20; ++seed) {
          const std::string said = fmt::format(fmt::runtime(line), what, n, seed);
          const std::vector<double> all = reduced(parse_case(said));
          EXPECT_GT(std::set<double>(all.begin(), all.end()).size(), 1u) << said;
        }
}

// Of 64 parts each and of 66 the whole values are multiples of powers of two, whose products wrap to one
// word.
TEST(Tiny, ProductsOfManyPartsDoNotAllWrapToOneWord) {
  for (const auto& [x, y] : {
           std::pair{64,  64 },
           {80,  80 },
           {96,  112},
           {64,  66 },
           {127, 64 },
           {200, 3  }
  })
    for (const int rows : {1, 6, 300})
      for (int seed = 0; seed < 5; ++seed) {
        const Case c =
            parse_case(fmt::format("on x={},y={}: einsum m,n->mn s8[{}]+x s8[5]+y -> s8[{}] wire=s32 seed={}",
                                   x, y, rows, fmt::format("{},5", rows), seed));
        const std::vector<double> a = reduced(c, 0), b = reduced(c, 1);
        std::set<std::int8_t> different;
        for (const double left : a)
          for (const double right : b)
            different.insert(static_cast<std::int8_t>(static_cast<std::int64_t>(left * right)));
        EXPECT_GT(different.size(), 1u) << print(c);
      }
}

// However many terms a sum has.
TEST(Tiny, FewSumsOfManyTermsAreNotAlike) {
  int alike = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const Case c = parse_case(
        fmt::format("on x=2: einsum mk,k->m f8e5m2[2,20000@x] f8e5m2[20000@x] -> f8e5m2[2] seed={}", seed));
    const std::vector<double> a = reduced(c, 0), b = reduced(c, 1);
    double sums[2] = {};
    for (std::int64_t i = 0; i < std::ssize(a); ++i) sums[i / 20000] += a[i] * b[i % 20000];
    alike += sums[0] == sums[1];
  }
  EXPECT_EQ(alike, 0);
}

// Of words that wrap, few of which are the factors of many: by chance they are multiples of 128 or 256, of
// one part in one of 255 seeds.
TEST(Tiny, FewFactorsOfManyElementsDoNotAllWrapAlike) {
  for (const char* line : {
           "on x=2: einsum z,n->zn s8[1] s8[64] -> s8[1,64]",
           "on x=2: einsum n,z->zn s8[64] s32[1] -> s8[1,64]",
           "on x=4: einsum m,z->mz s32[108] s32[1]+x -> s8[108,1]",
           "on x=4: einsum mk,k->m s8[108,1] s32[1]+x -> s8[108]",
           "on x=2,y=2: einsum z,mz->mz s32[2]+x s8[50,2]+y -> s8[50,2] wire=s32",
           "on x=2: grouped fwd s8[40,1] s8[1,1,1] sizes=40 -> s8[40,1]",
       })
    for (int seed = 0; seed < 1500; ++seed) {
      const Case c = parse_case(fmt::format("{} seed={}", line, seed));
      const std::vector<double> a = reduced(c, 0), b = reduced(c, 1);
      std::set<std::int8_t> different;
      for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
          if (a.size() % 2 == 1 || b.size() % 2 == 1 || i % 2 == j % 2)
            different.insert(
                static_cast<std::int8_t>(static_cast<std::int64_t>(a[i]) * static_cast<std::int64_t>(b[j])));
      EXPECT_GT(different.size(), 1u) << print(c);
    }
}

// Normal data: the parts of a scalar do not add up to 0, though by chance they would in one of 24 seeds.
TEST(Tiny, AScalarInPartsIsNoZero) {
  for (const char* rows : {"7", "64"})
    for (int seed = 0; seed < 400; ++seed) {
      const Case c = parse_case(fmt::format(
          "on x=2,y=2: einsum z,->z f8e5m2[{0}] f8e4m3[]+x.y -> f32[{0}] fill=normal seed={1}", rows, seed));
      const Tensor b = fill(c, 1);
      double sum = 0;
      for (int p = 0; p < 4; ++p) sum += value(b, p);
      EXPECT_NE(sum, 0) << print(c);
    }
}

// Nothing is drawn again that is told apart: the data of the first key stay.
TEST(Tiny, WhatTellsSomethingIsNotDrawnAgain) {
  int again = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const Case c = parse_case(fmt::format("on x=2: reshard f32[8]+x -> f32[8] seed={}", seed));
    again += recipe(c).seed != data_seed(c);
  }
  EXPECT_EQ(again, 0);
}

}  // namespace
}  // namespace plumb
