#include "adapters/rank/at_best.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

Plan plan_of(const std::string& line) { return plan(parse_case(line), Style::direct, 1e6); }

double multiplied(const Plan& made) {
  double all = 0;
  for (const ProductSize& s : plain_products(made, holder_of_all(made.mesh, made.rule)))
    all += static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  return all;
}

// Split over devices the products are those of the whole.
TEST(AtBest, PlainProductsOfAllDevicesAreThoseOfTheWhole) {
  EXPECT_EQ(multiplied(plan_of("on x=4: einsum mk,kn->mn f32[8,12@x] f32[12@x,16] -> f32[8,16]")),
            8 * 12 * 16);
  EXPECT_EQ(multiplied(plan_of("on x=4: einsum mk,kn->mn f32[8@x,12] f32[12,16] -> f32[8@x,16]")),
            8 * 12 * 16);
  EXPECT_EQ(multiplied(plan_of("on x=2: einsum bmk,bkn->bmn f32[4@x,3,5] f32[4@x,5,7] -> f32[4@x,3,7]")),
            4 * 3 * 5 * 7);
  EXPECT_EQ(multiplied(plan_of("on x=2: reshard f32[8@x] -> f32[8]")), 0);
}

// A row meets its own expert alone, and what is past the sizes none.
TEST(AtBest, PlainProductsOfExpertsAreThoseOfTheirRows) {
  for (const char* form : {"fwd f32[16@ep,3] f32[4@ep,3,5]", "dgrad f32[16@ep,3] f32[4@ep,5,3]"})
    EXPECT_EQ(multiplied(plan_of(std::string("on ep=2: grouped ") + form + " sizes=2,0,9,1 -> f32[16@ep,5]")),
              12 * 3 * 5)
        << form;
}

TEST(AtBest, OneRankHasItsShare) {
  const Plan made = plan_of("on x=4: einsum mk,kn->mn f32[8,12@x] f32[12@x,16] -> f32[8,16]");
  const auto one = plain_products(made, {
                                            &made.mesh, made.rule, {1, 2}
  });
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].m, 8);
  EXPECT_EQ(one[0].n, 16);
  EXPECT_EQ(one[0].k, 3);
}

// Whom a rank sends to hears from it.
TEST(AtBest, NeighboursAreMutual) {
  for (const char* what : {"send", "link 0-1 2-3", "link 2-0", "link "})
    for (const std::size_t n : {1, 2, 3, 5}) {
      const auto of = [&](std::size_t rank) {
        return neighbours(what, {std::vector<std::int64_t>(n), rank});
      };
      for (std::size_t rank = 0; rank < n; ++rank) {
        ASSERT_TRUE(of(rank));
        const auto to = static_cast<std::size_t>(of(rank)->to);
        if (to < n) {
          EXPECT_EQ(of(to)->from, static_cast<int>(rank)) << what << " of " << n;
        }
      }
    }
  EXPECT_EQ(neighbours("link 0-1 2-3", {std::vector<std::int64_t>(4), 3})->to, 2);
  EXPECT_EQ(neighbours("link 0-1", {std::vector<std::int64_t>(3), 2})->to, 2) << "on no link";
  EXPECT_FALSE(neighbours("gemm", {std::vector<std::int64_t>(2), 0}));
}

TEST(AtBest, LimitsAreThoseThatNeedNobodyElse) {
  const Plan gather = plan_of("on x=2: reshard f32[8@x] -> f32[8]"),
             product = plan_of("on x=2: einsum mk,kn->mn f64[8@x,12] f64[12,16] -> f64[8@x,16]");
  EXPECT_FALSE(plain_product(gather, holder_of_all(gather.mesh, gather.rule)));
  plain_product(product, holder_of_all(product.mesh, product.rule))();
  copy_in_memory(4096, holder_of_all(gather.mesh, gather.rule))();
}

}  // namespace
}  // namespace plumb
