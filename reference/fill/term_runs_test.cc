// Runs that are made several elements at once are what the formula of one element says.
#include "reference/fill/term_runs.h"

#include <gtest/gtest.h>

#include "reference/fill/fill.h"
#include "reference/fill/product_at.h"
#include "reference/words/element.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(TermRuns, DrawBelowShortNumbersAsBelowAny) {
  for (std::int64_t n : {1ll, 2ll, 3ll, 1000ll, (1ll << 24) - 1, (1ll << 32) - 1, 1ll << 32})
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const std::uint64_t random = i < 4 ? ~std::uint64_t{0} - i * 0xffffffff : mix(i);
      ASSERT_EQ(below_short(random, n), below(random, n)) << random << " " << n;
    }
}

// Blocks of pairs and of a triple, one and several; long and piled terms, narrow ones, batches, groups;
// either operand perturbed.
const char* kLines[] = {
    "on x=1: einsum mk,kn->mn f32[9,1300] f32[1300,530] -> f32[9,530]",
    "on x=1: einsum mk,nk->mn f32[530,1301] f32[9,1301] -> f32[530,9]",
    "on x=3: einsum mk,kn->mn bf16[5,97@x] bf16[97@x,70] -> f32[5,70]",
    "on x=2: einsum mk,kn->mn f64[5@x,64] f64[64,9] -> f64[5@x,9]",
    "on x=2: einsum mk,kn->mn f16[5@x,64] f16[64,9] -> f16[5@x,9]",
    "on x=2: einsum bmk,bkn->bmn bf16[3,4,2] bf16[3,2,5] -> f32[3,4,5]",
    "on x=2: einsum bmk,bkn->bmn bf16[3,4,3] bf16[3,3,5] -> f32[3,4,5]",
    "on x=2: einsum mk,kn->mn f8e4m3[5@x,64] f8e4m3[64,9] -> f32[5@x,9]",
    "on x=2: grouped fwd bf16[12@x,40] bf16[3,40,9] sizes=5,0,4 -> f32[12,9]",
    "on x=2: grouped wgrad bf16[40@x,6] bf16[40@x,9] sizes=21,0,16 -> f32[3,6,9]",
};

TEST(TermRuns, MakeWhatTheFormulaOfAnElementSays) {
  int at_once = 0;
  for (const char* line : kLines) {
    const Case c = parse_case(line);
    const Recipe r = recipe(c);
    for (int operand : {0, 1}) {
      const Tensor made = fill(c, operand);
      Slice all;
      for (std::int64_t size : r.sources[operand].shape) all.push_back({0, size});
      const auto tables = product_tables(r, {operand, 0, all});
      ASSERT_TRUE(tables) << line;
      const ProductAt at =
          tables->lying(tables->numbers.data(), tables->stretches.data(), tables->matchings.data());
      Spot spot;
      spot.volume = 2;
      at_once += made_at_once(at.terms, spot);
      for (std::int64_t i = 0; i < elements(all); ++i)
        ASSERT_EQ(bits(made, i), encode(made.dtype, at.value(i)))
            << line << " operand " << operand << " " << i;
      // Neighbours that are made together are those made one by one.
      for (int count = 1; count <= all.back().size(); ++count)
        for (std::int64_t i = 0; all.back().size() % count == 0 && i < elements(all); i += count)
          at.run(i, count, [&](int k, double value) {
            ASSERT_EQ(value, at.value(i + k)) << line << " operand " << operand << " " << i << " + " << k;
          });
    }
  }
  EXPECT_GE(at_once, 14) << "what is compared is made by other loops";
}

}  // namespace
}  // namespace plumb
