// The sums of few terms that lines of their own are asked for, computed as their meaning says, are those of IEEE 754.
#include "harness/run/own_terms.h"

#include <gtest/gtest.h>

#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// What its rows come to, each rounded once, by every time that it is asked; how many elements are none.
struct Came {
  std::vector<FewTerms> asked;
  std::vector<double> sums;
  int none = 0;
};
Came came_of(const Case& c) {
  Came came;
  for (int next = 0; next < times_of_asking(c); ++next) {
    const auto own = own_terms(c, next);
    if (!own) break;
    const Tensor whole = evaluate_all(c, own->operands).front();
    for (std::int64_t i = 0; i < std::ssize(own->sum_of); ++i) {
      if (own->sum_of[i] < 0) {
        ++came.none;
        continue;
      }
      came.asked.push_back(own->sums[own->sum_of[i]]);
      came.sums.push_back(value(whole, i));
    }
  }
  return came;
}

const char* const summing_lines[] = {
    "on x=2: einsum mk,kn->mn f32[8,64@x] f32[64@x,3] -> f32[8,3]",
    "on x=2: einsum km,nk->nm f32[64@x,3] f32[5,64@x] -> f32[5,3]",
    "on x=2,y=2: einsum bmk,bkn->bmn f32[2@x,3,8@y] f32[2@x,8@y,4] -> f32[2@x,3,4]",
    "on x=2: einsum mkl,lkn->nm f32[3,4,5] f32[5,4,2] -> f32[2@x,3]",
    "on x=2: einsum mk,kn->mn f32[4,6]+x f32[6,4]+x -> f32[4,4]",
    "on x=2: einsum mk,kn->mn bf16[4,6] bf16[6,4] -> f32[4,4]+x -> f32[4,4@x]",
    "on x=2: grouped fwd f32[8@x,6] f32[2,6,3] sizes=3,4 -> f32[8@x,3]",
    "on x=2: grouped dgrad f32[8@x,6] f32[2,5,6] sizes=3,4 -> f32[8@x,5]",
    "on x=2: grouped fwd f32[8@x,6] f32[2,6,3] sizes=1,2/3,1 -> f32[8@x,3]",
    "on x=2: grouped wgrad f32[9@x,6] f32[9@x,5] sizes=5,3 -> f32[2,6,5]",
    "on x=2: grouped wgrad f32[8@x,6] f32[8@x,5] sizes=1,2/3,1 -> f32[2,6,5]",
    "on x=1: einsum mk,kn->mn bf16[4,64] bf16[64,4] -> bf16[4,4]",
    "on x=1: einsum mk,kn->mn f8e4m3[4,64] f8e4m3[64,4] -> f32[4,4]"};

// Law: every element is the sum that it is said to be: rounded once it is one that IEEE 754 makes, and no such engine
// as loses the 24th bit.
TEST(OwnTerms, AreTheSumsOfTheElements) {
  for (const char* line : summing_lines) {
    const Case c = parse_case(line);
    const Came came = came_of(c);
    ASSERT_FALSE(came.asked.empty()) << line;
    EXPECT_EQ(probed(came.asked, result(c).dtype, came.sums).engine, Engine::ieee) << line;
    for (std::size_t i = 0; i < came.sums.size(); ++i) {
      std::vector<double> other = came.sums;
      other[i] += 1;
      ASSERT_NE(probed(came.asked, result(c).dtype, other).engine, Engine::ieee) << line << " " << i;
    }
  }
}

// Law: elements of no group, and of groups of one row, are asked for nothing.
TEST(OwnTerms, AskForNothingWhereNothingIsAdded) {
  EXPECT_EQ(came_of(parse_case("on x=2: grouped fwd f32[8@x,6] f32[2,6,3] sizes=3,4 -> f32[8@x,3]")).none, 8 * 3);
  EXPECT_GT(came_of(parse_case("on x=2: grouped wgrad f32[8,2] f32[8,3] sizes=1,7 -> f32[2@x,2,3]")).none, 0);
  for (const char* line : {"on x=2: einsum mk,kn->mn f32[4,1] f32[1,4] -> f32[4,4@x]",
                           "on x=2: einsum mk,kn->mn bf16[4,8@x] bf16[8@x,4] -> bf16[4,4]",
                           "on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]+x"})
    EXPECT_FALSE(own_terms(parse_case(line))) << line;
}

}  // namespace
}  // namespace plumb
