#include "reference/bytes/free_layouts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference/bytes/bytes.h"
#include "reference/bytes/family.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(FreeResult, ByHand) {
  struct {
    const char* line;
    std::int64_t best;
  } const rows[] = {
  // nothing is summed: it stays where it was made
      {"on x=2: einsum mk,kn->mn f32[8@x,4] f32[4,8] -> f32[8,8]?",             0        },
 // a reduce-scatter, not an all-reduce
      {"on x=2: einsum mk,kn->mn f32[2,64@x] f32[64@x,2] -> f32[2,2]?",         4 * 4    },
      {"on x=4: einsum mk,kn->mn f32[4,64@x] f32[64@x,2] -> f32[4,2]?",         3 * 8 * 4},
 // a scalar cannot be scattered
      {"on x=2: einsum k,k-> f32[64@x] f32[64@x] -> f32[]?",                    2 * 4    },
 // the idle axis splits the result too, or each of its two copies would be added up
      {"on x=2,y=2: einsum mk,kn->mn f32[4,64@x] f32[64@x,4] -> f32[4,4]?",     16 * 4   },
      {"on x=2: reshard f32[8@x] -> f32[8]?",                                   0        },
      {"on x=4: reshard f32[8]+x -> f32[8]?",                                   3 * 8 * 4},
 // no row has to leave the device that has its expert
      {"on ep=2: grouped fwd f32[8@ep,4] f32[2@ep,4,6] sizes=4,4 -> f32[8,6]?", 0        },
      {"on x=2: grouped wgrad f32[8@x,4] f32[8@x,6] sizes=8 -> f32[1,4,6]?",    24 * 4   },
  };
  for (const auto& row : rows) {
    const BestKnown best = best_known(parse_case(row.line));
    EXPECT_EQ(best.bytes, row.best) << row.line << "\n" << best.family;
    EXPECT_TRUE(fewest_bytes(parse_case(row.line)).empty());
  }
}

// Rows before columns, as the layouts are listed.
TEST(FreeResult, OfLayoutsThatCostAlikeTheFirstIsNamed) {
  for (const char* line : {"on x=2: reshard f32[8,8]+x -> f32[8,8]?",
                           "on x=2: einsum mk,kn->mn f32[8,64@x] f32[64@x,8] -> f32[8,8]?"})
    EXPECT_NE(best_known(parse_case(line)).family.find("the result left as f32[8@x,8]"), std::string::npos)
        << line;
}

// However a backend lays it out, the yardstick is no more than that of the layout it chose; some layout
// meets it.
TEST(FreeResult, IsTheCheapestOfAllFinishedResults) {
  const Choices all = all_matmuls(parse_mesh("x=2,y=2"), DType::f32, {4, 8, 4});
  std::int64_t n = 0;
  for (const Spec& lhs : all.specs[0])
    for (const Spec& rhs : all.specs[1]) {
      std::int64_t least = -1;
      Case c;
      for (const Spec& out : all.specs[2]) {
        c = nth(all, 0);
        c.op.operands = {lhs, rhs};
        c.op.chain = {out};
        if (!out.unfinished.empty()) continue;
        const std::int64_t known = best_known(c).bytes;
        if (least < 0 || known < least) least = known;
      }
      Spec free{
          DType::f32, {{4, {}},      {4, {}}},
           {            },
           true
      };
      c.op.chain = {free};
      ASSERT_EQ(best_known(c).bytes, least) << print(c) << "\n" << best_known(c).family;
      ++n;
    }
  EXPECT_GT(n, 100);
}

// Each idle axis splits a dimension or none: 3 to the power of the axes, as far as that is no more than
// 1,024.
TEST(FreeResult, LayoutsAreListedForAsManyAxesAsAreFew) {
  std::string mesh;
  for (int axes = 1; axes <= 9; ++axes) {
    mesh += fmt::format("{}a{}=2", axes > 1 ? "," : "", axes);
    Spec made = parse_case("on " + mesh + ": reshard f32[512,512]+a1 -> f32[512,512]").op.operands[0];
    const std::size_t want[] = {3, 9, 27, 81, 243, 729, 729, 729, 729};
    EXPECT_EQ(layouts_left(parse_mesh(mesh), made).size(), want[axes - 1]) << mesh;
  }
}

}  // namespace
}  // namespace plumb
