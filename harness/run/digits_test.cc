// Operands of one term each show all their digits, whatever the order of additions.
#include "harness/run/digits.h"

#include <gtest/gtest.h>

#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

const char* const wide_lines[] = {"on x=2: einsum mk,kn->mn f32[3,8@x] f32[8@x,2] -> f32[3,2]",
                             "on x=2: einsum k,k-> f32[8@x] f32[8@x] -> f32[]",
                             "on x=2: einsum bkml,lkbn->nmb f32[2,3,4,5] f32[5,3,2,7] -> f32[7,4@x,2]",
                             "on x=2: einsum m,n->mn f32[3] f32[4@x] -> f32[3,4@x]",
                             "on x=2: einsum mk,kn->mn f32[3,8]+x f32[8,2]+x -> f32[3,2]",
                             "on x=2: grouped fwd f32[8@x,4] f32[2,4,3] sizes=3,5 -> f32[8@x,3]",
                             "on x=2: grouped dgrad f32[8@x,4] f32[2,3,4] sizes=3,5 -> f32[8@x,3]",
                             "on x=2: grouped wgrad f32[8@x,4] f32[8@x,3] sizes=3,5 -> f32[2,4,3]",
                             "on x=2: grouped wgrad f32[8@x,4] f32[8@x,3] sizes=0,1/3,1 -> f32[2,4,3]"};

// Law: each element of the result is an element of the wide operand, of 24 digits.
TEST(Digits, AllAreThoseOfTheResult) {
  for (const char* line : wide_lines)
    for (int wide : {0, 1}) {
      const Case c = parse_case(line);
      const Tensor whole = evaluate_all(c, operands_of_one_term(c, wide)).front();
      for (std::int64_t e = 0; e < elements(whole.shape); ++e) {
        EXPECT_TRUE(bits(whole, e) & 1) << line << " " << wide << " " << e << ": " << value(whole, e);
        EXPECT_NE(value(whole, e), 0);
      }
    }
}

}  // namespace
}  // namespace plumb
