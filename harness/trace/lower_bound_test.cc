// No program receives fewer bytes.
#include "harness/trace/lower_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

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
  // Of four terms it lacks both factors: 54 elements, but for 2 x 5 that follow from the others.
  EXPECT_THAT(bound_of("on x=2: einsum mk,kn->mn f32[6,8@x] f32[8@x,9] -> f32[6,9]"), ElementsAre(176, 176));
  EXPECT_THAT(bound_of("on x=4: einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8@x,8]"),
              ElementsAre(64, 64, 64, 64));
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
              ElementsAre(0, 24))
      << "row 3 times row 3: of 12 products 4 + 3 - 1 tell the others";
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

// The rank of a matrix, modulo a prime.
std::int64_t rank(std::vector<std::vector<std::int64_t>> rows) {
  constexpr std::int64_t prime = 1'000'003;
  const auto inverse = [](std::int64_t a) {
    std::int64_t to = 1;
    for (std::int64_t n = prime - 2; n > 0; n /= 2, a = a * a % prime)
      if (n % 2) to = to * a % prime;
    return to;
  };
  std::size_t found = 0;
  for (std::size_t column = 0; !rows.empty() && column < rows[0].size(); ++column) {
    std::size_t pivot = found;
    while (pivot < rows.size() && rows[pivot][column] == 0) ++pivot;
    if (pivot == rows.size()) continue;
    std::swap(rows[found], rows[pivot]);
    const std::vector<std::int64_t>& with = rows[found++];
    for (std::size_t r = found; r < rows.size(); ++r) {
      const std::int64_t times = rows[r][column] * inverse(with[column]) % prime;
      for (std::size_t i = column; i < with.size(); ++i)
        rows[r][i] = ((rows[r][i] - times * with[i]) % prime + prime) % prime;
    }
  }
  return static_cast<std::int64_t>(found);
}

// In how many directions the block of a device can change when what it does not hold of the operands does,
// the values drawn.
std::int64_t directions(const Case& c, std::int64_t device) {
  const Slice due = block(c.mesh, result(c), c.rule, device);
  std::mt19937_64 random(device);
  const std::int64_t terms = c.op.operands[0].dims[1].size, rows = due[0].size(), columns = due[1].size();
  std::vector<std::vector<std::int64_t>> left(rows), right(columns), all;  // left[m][k], right[n][k]
  for (auto* side : {&left, &right})
    for (auto& of : *side)
      for (std::int64_t k = 0; k < terms; ++k)
        of.push_back(1 + static_cast<std::int64_t>(random() % 1'000'000));
  const auto lacks = [&](int operand, std::int64_t i, std::int64_t j) {
    const Slice held = block(c.mesh, c.op.operands[operand], c.rule, device);
    return i < held[0].begin || i >= held[0].end || j < held[1].begin || j >= held[1].end;
  };
  for (std::int64_t k = 0; k < terms; ++k) {
    for (std::int64_t m = 0; m < rows; ++m)
      if (auto& change = all.emplace_back(rows * columns); lacks(0, due[0].begin + m, k))
        for (std::int64_t n = 0; n < columns; ++n) change[m * columns + n] = right[n][k];
    for (std::int64_t n = 0; n < columns; ++n)
      if (auto& change = all.emplace_back(rows * columns); lacks(1, k, due[1].begin + n))
        for (std::int64_t m = 0; m < rows; ++m) change[m * columns + n] = left[m][k];
  }
  return rank(all);
}

// Law: no more is asked for than there are directions, and mostly as much.
TEST(LowerBound, OfAProductIsInHowManyDirectionsItsBlockMayChange) {
  std::int64_t as_much = 0, all = 0;
  for (const MatmulSize size : {
           MatmulSize{4, 2, 4},
           MatmulSize{5, 4, 6},
           MatmulSize{3, 8, 2}
  }) {
    const Choices choices = all_matmuls(parse_mesh("x=2,y=2"), DType::f32, size);
    for (std::int64_t n = 0; n < count(choices); ++n) {
      const Case c = nth(choices, n);
      if (parts(c.mesh, result(c)) > 1) continue;
      const std::vector<std::int64_t> fewest = fewest_received(c, held_slices(c, {}, 0));
      for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
        const std::int64_t may = 4 * directions(c, device);
        ASSERT_LE(fewest[device], may) << print(c) << " on " << device;
        ++all, as_much += fewest[device] == may;
      }
    }
  }
  EXPECT_GT(as_much, all * 95 / 100) << "of " << all;
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
              ElementsAre(28, 26));
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
