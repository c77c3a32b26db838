// No program receives fewer bytes.
#include "harness/trace/lower_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trace/slices.h"
#include "reference/bytes/bytes.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::vector<std::int64_t> bound_of(const std::string& line) {
  const Case c = parse_case(line);
  return fewest_received(c, held_slices(c, {}, 0));
}

TEST(LowerBound, OfAProduct) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  // x [m,k], w [k,n]: sums where n is small, elements of x where what it lacks of k is.
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6,8@x] f32[8@x,3] -> f32[6,3]"), ElementsAre(72, 72));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6,8@x] f32[8@x,9] -> f32[6,9]"), ElementsAre(144, 144));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6,8@x] f32[8@x,3] -> f32[6@x,3]"), ElementsAre(36, 36));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6@x,8] f32[8,3] -> f32[6@x,3]"), ElementsAre(0, 0));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6@x,8] f32[8,3] -> f32[6,3]"), ElementsAre(36, 36));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6,8] f32[8,3@x] -> f32[6,3]"), ElementsAre(24, 48));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6,8]+x f32[8,3] -> f32[6,3]"), ElementsAre(72, 72));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn bf16[6,8@x] bf16[8@x,3] -> f32[6,3]"), ElementsAre(36, 36));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn bf16[6,64@x]~mxfp8 bf16[64@x,3] -> f32[6,3]"),
              ElementsAre(18, 18));
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6,8@x] f32[8@x,3] -> f32[6,3]+x"), IsEmpty());
  EXPECT_THAT(bound_of("on x=2: einsum bmk,bkn->bmn f32[2@x,3,4] f32[2@x,4,5] -> f32[2,3,5]"),
              ElementsAre(60, 60));
}

TEST(LowerBound, OfAGroupedProduct) {
  using testing::ElementsAre;
  // Device 0 has group 0 and row 3 of group 1, whose weights it lacks: one row of three.
  EXPECT_THAT(bound_of("on x=2: grouped fwd f32[8@x,4] f32[2@x,4,3] sizes=3,5 -> f32[8@x,3]"),
              ElementsAre(12, 0));
  // Two rows of group 1 would be told with two values for each column.
  EXPECT_THAT(bound_of("on x=2: grouped fwd f32[8@x,4] f32[2@x,4,3] sizes=2,6 -> f32[8@x,3]"),
              ElementsAre(24, 0));
  EXPECT_THAT(bound_of("on x=2: grouped fwd f32[8@x,4] f32[2@x,4,3] sizes=4,0 -> f32[8@x,3]"),
              ElementsAre(0, 0));
  EXPECT_THAT(bound_of("on x=2: grouped wgrad f32[8@x,4] f32[8@x,3] sizes=3,5 -> f32[2@x,4,3]"),
              ElementsAre(0, 16));
}

TEST(LowerBound, OfAFreeReshardIsByWhatEachDeviceHolds) {
  using testing::ElementsAre;
  const auto bound_in_halves = [](const std::string& line, bool exchanged) {
    std::vector<Slice> halves{{{0, 4}}, {{4, 8}}};
    if (exchanged) std::swap(halves[0], halves[1]);
    return fewest_received(parse_case(line), halves);
  };
  EXPECT_THAT(bound_in_halves("on x=2: reshard f32[8@x] -> f32[8]?", false), ElementsAre(0, 0));
  EXPECT_THAT(bound_in_halves("on x=2: reshard f32[8@x] -> f32[8]?", true), ElementsAre(16, 16));
  EXPECT_THAT(bound_in_halves("on x=2: reshard f32[8] -> f32[8]?", true), ElementsAre(0, 0));
  EXPECT_THAT(bound_in_halves("on x=2: reshard f32[8]+x -> f32[8]?", false), ElementsAre(16, 16))
      << "a part is nothing of the sum";
  const std::vector<Slice> columns{
      {{0, 4}, {0, 2}},
      {{0, 4}, {2, 4}}
  };
  EXPECT_THAT(fewest_received(parse_case("on x=2: reshard f32[4@x,4] -> f32[4,4]?"), columns),
              ElementsAre(16, 16))
      << "of half of the columns it has half";
}

// Law: no plan of the family for best_known() moves less.
void expect_no_plan_below(const Case& c) {
  std::int64_t sum = 0;
  for (std::int64_t bytes : fewest_received(c, held_slices(c, {}, 0))) sum += bytes;
  EXPECT_LE(sum, best_known(c).bytes) << print(c);
}

TEST(LowerBound, LiesUnderThePlanOfEveryProduct) {
  for (const MatmulSize size : {
           MatmulSize{4, 6, 3},
           MatmulSize{3, 2, 5},
           MatmulSize{1, 8, 8}
  }) {
    const Choices all = all_matmuls(parse_mesh("x=2,y=3"), DType::f32, size);
    for (std::int64_t n = 0; n < count(all); ++n) expect_no_plan_below(nth(all, n));
  }
}

TEST(LowerBound, LiesUnderThePlanOfEveryGroupedProduct) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  for (const std::string sizes : {"3,0,4", "1,3/2,0"})
    for (const std::string form : {"fwd", "dgrad", "wgrad"}) {
      const bool wide = form == "wgrad", back = form == "dgrad";
      const std::vector<std::int64_t> rows{8, back ? 3 : 2}, made{8, back ? 2 : 3};
      const std::int64_t groups = sizes == "3,0,4" ? 3 : 2;
      const std::vector<std::int64_t> weights{groups, 2, 3};
      for (const Spec& left : all_specs(mesh, DType::f32, rows, false))
        for (const Spec& right : all_specs(mesh, DType::f32, wide ? made : weights, false))
          for (const Spec& out : all_specs(mesh, DType::f32, wide ? weights : made, false)) {
            if (left.dims[0].axes.size() + right.dims[0].axes.size() > 2) continue;  // enough of them
            expect_no_plan_below(parse_case("on x=2,y=2: grouped " + form + " " + print(mesh, left) + " " +
                                            print(mesh, right) + " sizes=" + sizes + " -> " +
                                            print(mesh, out)));
          }
    }
}

TEST(LowerBound, OfWhatIsQuantized) {
  using testing::ElementsAre;
  EXPECT_THAT(bound_of("on x=2: quantize fp8 bf16[8@x] -> f8e4m3[8@x] f32[]"), ElementsAre(2, 2));
  EXPECT_THAT(bound_of("on x=2: quantize fp8 bf16[8@x] -> f8e4m3[8] f32[]"), ElementsAre(4, 4));
  EXPECT_THAT(bound_of("on x=2: quantize mxfp8 bf16[64@x] -> f8e4m3[64@x] e8m0[2]"), ElementsAre(1, 1));
  EXPECT_THAT(bound_of("on x=2: quantize mxfp8 bf16[64@x] -> f8e4m3[64@x] e8m0[2@x]"), ElementsAre(0, 0));
  EXPECT_THAT(bound_of("on x=2: quantize mxfp8 bf16[2,48@x] -> f8e4m3[2@x,48] e8m0[2,2]"),
              ElementsAre(24, 24));
  EXPECT_THAT(bound_of("on x=2: quantize fp8 bf16[8@x,2] sizes=3,4 -> f8e4m3[8,2] f32[2]"), ElementsAre(6, 8))
      << "the last row is of no group";
  EXPECT_THAT(bound_of("on x=2: quantize fp8 bf16[8@x] f32[4] f32[] -> f8e4m3[8] f32[] f32[4] f32[]"),
              ElementsAre(4, 4));
}

TEST(LowerBound, LiesUnderThePlanOfEveryQuantize) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  for (const auto& [scheme, scale, shape_of_scale] : {
           std::tuple{"fp8",   DType::f32,  std::vector<std::int64_t>{}     },
           std::tuple{"mxfp8", DType::e8m0, std::vector<std::int64_t>{3, 2} },
           std::tuple{"mxfp8", DType::e8m0, std::vector<std::int64_t>{1, 40}}
  })
    for (const Spec& x : all_specs(mesh, DType::bf16, {3, 40}, false))
      for (const Spec& codes : all_specs(mesh, DType::f8e4m3, {3, 40}, false))
        for (const Spec& scales : all_specs(mesh, scale, shape_of_scale, false))
          expect_no_plan_below(parse_case(std::string("on x=2,y=2: quantize ") + scheme + " " +
                                          print(mesh, x) + " -> " + print(mesh, codes) + " " +
                                          print(mesh, scales)));
}

}  // namespace
}  // namespace plumb
