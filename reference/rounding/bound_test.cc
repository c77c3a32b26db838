#include "reference/rounding/bound.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "reference/rounding/testing/emulate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Bound, HoldsForCorrectRuns) {
  for (DType wire : {DType::bf16, DType::f16, DType::f32})
    for (std::int64_t parts : {1, 2, 8, 64})
      for (double mean : {0.0, 1.0}) {
        const Specimen run = emulate({24, 1024, parts, mean, wire});
        EXPECT_EQ(outside(run.reduction, run.exact, run.got), 0)
            << format(wire).name << " " << parts << " " << mean;
      }
}

// One after the other, in pairs, and in the accumulator: each within its own bound, which the others leave
// where it is narrower.
TEST(Bound, OfAnOrderHoldsForThatOrder) {
  for (DType wire : {DType::bf16, DType::f16, DType::f32})
    for (std::int64_t parts : {2, 8, 64}) {
      const std::int64_t levels = std::bit_width(static_cast<std::uint64_t>(parts - 1));
      const struct {
        std::string_view name;
        Order order;
      } rows[] = {
          {"ring", {parts - 1, parts}  },
          {"tree", {levels, levels + 1}},
          {"wide", {parts - 1, 2}      },
      };
      for (const auto& row : rows) {
        Specimen run = emulate({24, 1024, parts, 0, wire, "", 1, nullptr, row.name});
        run.reduction.order = row.order;
        EXPECT_EQ(outside(run.reduction, run.exact, run.got), 0)
            << row.name << " " << format(wire).name << parts;
      }
    }
}

// With a wide wire the bound alone sees what goes wrong on a rank.
TEST(Bound, SeesFaultsOnAWideWire) {
  for (std::string_view fault : {"drop a rank", "drop a term", "drop 32 terms", "stale shard", "scale a rank",
                                 "swap two rows", "bf16 accumulator", "drop a rank in a tile"}) {
    const Specimen run = emulate({24, 1024, 8, 0, DType::f32, fault});
    EXPECT_GT(outside(run.reduction, run.exact, run.got), 0) << fault;
  }
  // A bf16 wire where f32 was promised.
  Specimen narrow = emulate({24, 1024, 8, 0, DType::bf16});
  narrow.reduction.wire = narrow.reduction.out = DType::f32;
  Tensor wide = zeros(DType::f32, narrow.got.shape);
  for (std::int64_t i = 0; i < elements(wide.shape); ++i)
    store(DType::f32, wide.bytes.data() + 4 * i, encode(DType::f32, value(narrow.got, i)));
  EXPECT_GT(outside(narrow.reduction, narrow.exact, wide), 0);
}

// One value is a copy: nothing may change but the rounding to the result's dtype.
TEST(Bound, OfOneValueIsOneRounding) {
  Tensor one = zeros(DType::f32, {1, 1});
  store(DType::f32, one.bytes.data(), encode(DType::f32, 1.1));
  const Exact e = exact_sum(one);
  const Interval range = interval({DType::f32, DType::f32, DType::f32, 0, 1}, e, 0);
  EXPECT_EQ(range.low, range.high);
  EXPECT_TRUE(inside(range, value(one, 0)));
  EXPECT_FALSE(inside(range, std::nextafter(value(one, 0), 2)));
}

// A matrix of rows, and the same one lying by columns.
TEST(Bound, OfAProductStandsOnTheMagnitudesOfItsRowsAndColumns) {
  Tensor rows = zeros(DType::f64, {2, 3}), columns = zeros(DType::f64, {3, 2});
  const double a[2][3] = {
      {1,  -2, 3 },
      {-4, 5,  -6}
  };
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k) {
      store(DType::f64, rows.bytes.data() + 8 * (3 * i + k), encode(DType::f64, a[i][k]));
      store(DType::f64, columns.bytes.data() + 8 * (2 * k + i), encode(DType::f64, a[i][k]));
    }
  Matrix by_rows = matrix(rows), by_columns = matrix(columns);
  std::swap(by_columns.rows, by_columns.cols);
  std::swap(by_columns.row_stride, by_columns.col_stride);
  Matrix turned = by_rows;
  std::swap(turned.rows, turned.cols);
  std::swap(turned.row_stride, turned.col_stride);
  for (const Matrix& left : {by_rows, by_columns}) {
    const Exact e = exact_product(left, turned);  // a times itself turned
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < 3; ++k) sum += a[i][k] * a[j][k], magnitude += std::fabs(a[i][k] * a[j][k]);
        EXPECT_EQ(value(e.value, 2 * i + j), sum);
        EXPECT_EQ(value(e.magnitude, 2 * i + j), magnitude);
        EXPECT_EQ(value(e.partial, 2 * i + j), magnitude);
      }
  }
}

TEST(Bound, EdgesOfTheInterval) {
  const auto exact = [](double c, double s) {
    Exact e{zeros(DType::f64, {1}), zeros(DType::f64, {1}), zeros(DType::f64, {1})};
    store(DType::f64, e.value.bytes.data(), encode(DType::f64, c));
    store(DType::f64, e.magnitude.bytes.data(), encode(DType::f64, s));
    e.partial = e.magnitude;
    return e;
  };
  const Reduction sum{DType::f32, DType::bf16, DType::bf16, 0, 2};
  EXPECT_TRUE(inside(interval(sum, exact(NAN, NAN), 0), NAN));
  EXPECT_FALSE(inside(interval(sum, exact(NAN, NAN), 0), 1));
  EXPECT_TRUE(inside(interval(sum, exact(kInf, kInf), 0), kInf));
  EXPECT_FALSE(inside(interval(sum, exact(kInf, kInf), 0), 1));
  EXPECT_FALSE(inside(interval(sum, exact(1, 1), 0), NAN));
  // A partial sum may overflow although the result does not.
  EXPECT_TRUE(inside(interval({DType::f32, DType::f16, DType::f16, 0, 2}, exact(0, 1e5), 0), kInf));
  EXPECT_FALSE(inside(interval({DType::f32, DType::f16, DType::f16, 0, 2}, exact(0, 1e4), 0), kInf));
}

TEST(Bound, IsPrintedTermByTerm) {
  Tensor parts = zeros(DType::bf16, {2, 1});
  for (int p = 0; p < 2; ++p) store(DType::bf16, parts.bytes.data() + 2 * p, encode(DType::bf16, 1 + p));
  EXPECT_EQ(bound_derivation({DType::f32, DType::bf16, DType::bf16, 0, 2}, exact_sum(parts), 0),
            "c = 3, S = sum |ab| = 3, T = sum |c_p| = 3\n"
            "reduction 0.0234836 = ((1 + u)^2 - 1) (T + local) + 2 eta, f32 and bf16: 1 + u = (1 + 2^-24) "
            "(1 + 2^-8), eta = 2^-126\n"
            "reference 6.66134e-16 = 2^-52 |c|\n"
            "E = 0.0234836: any bf16 in [2.96875, 3.03125]");
}

// What an order takes off the bound of any, in f32 with a bf16 wire.
TEST(Bound, OfAnOrderThatIsSaid) {
  Tensor parts = zeros(DType::bf16, {8, 1});
  for (int p = 0; p < 8; ++p) store(DType::bf16, parts.bytes.data() + 2 * p, encode(DType::bf16, 1));
  Reduction r{DType::f32, DType::bf16, DType::bf16, 0, 8};
  r.order = Order{7, 2};
  EXPECT_EQ(
      bound_derivation(r, exact_sum(parts), 0),
      "c = 8, S = sum |ab| = 8, T = sum |c_p| = 8\n"
      "reduction 0.0626259 = ((1 + 2^-24)^8 (1 + 2^-8)^2 - 1) (T + local) + 8 eta, f32 and bf16: 1 + u = "
      "(1 + 2^-24) (1 + 2^-8), eta = 2^-126, as the trace says: of a part at most 7 additions and 2 "
      "roundings, 0.247 of any order's\n"
      "reference 1.77636e-15 = 2^-52 |c|\n"
      "E = 0.0626259: any bf16 in [7.9375, 8.0625]");
}

// So that nobody passes by what he says.
TEST(Bound, OfAnOrderIsNeverWiderThanThatOfAnyOrder) {
  for (DType acc : {DType::bf16, DType::f32, DType::f64})
    for (DType wire : {DType::f8e4m3, DType::bf16, DType::f32})
      for (std::int64_t parts : {2, 3, 8, 4096})
        for (std::int64_t additions : {1, 3, 7, 4095, 5000})
          for (std::int64_t roundings : {1, 2, 8, 4096, 5000})
            for (double c : {0.0, 1.0, 1e4}) {
              Reduction any{acc, wire, wire, 0, parts};
              Reduction said = any;
              said.order = Order{additions, roundings};
              EXPECT_LE(bound(said, 2 + c, 1 + c, c).total(), bound(any, 2 + c, 1 + c, c).total());
            }
}

TEST(Bound, ReadsTheCase) {
  struct Row {
    const char* line;
    std::int64_t terms, parts;
  };
  const Row rows[] = {
      {"on x=2: reshard f32[8]+x -> f32[8]",                                                       0,  2},
      {"on x=2,y=3: reshard bf16[8]+x.y -> bf16[8@x]",                                             0,  6},
      {"on x=2,y=2: einsum mk,kn->mn f32[8,64@x] f32[64@x,8@y] -> f32[8,8@y]",                     64, 2},
      {"on x=2,y=2: einsum bsh,bsf->hf f32[4@x,2@y,8] f32[4@x,2@y,8] -> f32[8,8]+x.y -> f32[8,8]", 8,  4},
      {"on e=2: grouped fwd bf16[8@e,16] bf16[2@e,16,4] sizes=4,4 -> bf16[8@e,4]",                 16, 1},
      {"on e=2: grouped dgrad bf16[8,16] bf16[2,32,16@e] sizes=4,4 -> bf16[8,32]",                 16, 2},
      {"on e=2: grouped wgrad bf16[8@e,16] bf16[8@e,4] sizes=4,4 -> bf16[2,16,4]",                 8,  2},
      {"on x=2: einsum m,n->mn bf16[4@x] bf16[4] -> bf16[4@x,4]",                                  0,  1},
      {"on x=2: einsum m,n->mn f32[4@x] f32[4] -> f32[4@x,4]",                                     0,  1},
      {"on x=2: einsum m,n->mn f32[4@x] f32[4] -> bf16[4@x,4]",                                    1,  1},
  };
  for (const Row& row : rows) {
    const Reduction r = reduction(parse_case(row.line));
    EXPECT_EQ(r.terms, row.terms) << row.line;
    EXPECT_EQ(r.parts, row.parts) << row.line;
  }
}

// One reduction after the other: each rounds.
TEST(Bound, ReadsEveryReductionOfACase) {
  const auto added = [](const char* line) { return reduction(parse_case(line)).parts; };
  EXPECT_EQ(added("on x=2,y=3: reshard f32[8]+x.y -> f32[8]+x -> f32[8]"), 6);
  EXPECT_EQ(added("on x=3: reshard f32[8]+x -> f32[8] -> f32[8]+x -> f32[8]"), 6);
  EXPECT_EQ(added("on x=2: einsum mk,kn->mn f32[4,4]+x f32[4,4]+x -> f32[4,4]"), 4);
  EXPECT_EQ(added("on x=2,y=2: einsum mk,kn->mn f32[4,4@y]+x f32[4@y,4] -> f32[4,4]"), 4);
}

// A step rounds to the wire and to acc: once where the wire holds what acc does.
TEST(Bound, OfAStepOfTheReduction) {
  const auto unit = [](DType acc, DType wire, DType stored = DType::f64) {
    return step_unit({.acc = acc, .wire = wire, .stored = stored});
  };
  EXPECT_EQ(unit(DType::f32, DType::f32), 0x1p-24);
  EXPECT_EQ(unit(DType::bf16, DType::f32), 0x1p-8);
  EXPECT_EQ(unit(DType::f32, DType::bf16), 0x1p-8 + 0x1p-24 + 0x1p-32);
  EXPECT_EQ(unit(DType::f32, DType::f32, DType::bf16), 0x1p-8 + 0x1p-24 + 0x1p-32);
  EXPECT_EQ(unit(DType::f32, DType::bf16, DType::bf16), 0x1p-8 + 0x1p-24 + 0x1p-32);
  EXPECT_EQ(unit(DType::bf16, DType::f16), 0x1p-8 + 0x1p-11 + 0x1p-19) << "f16 has the digits, not the range";
}

TEST(Bound, ReadsTheDtypeInWhichPartsAreStored) {
  const auto stored = [](const char* line) { return reduction(parse_case(line)).stored; };
  EXPECT_EQ(stored("on x=2: reshard bf16[8]+x -> bf16[8] wire=f32"), DType::f64);
  EXPECT_EQ(stored("on x=2,y=2: reshard bf16[8]+x.y -> bf16[8]+x wire=f32"), DType::bf16);
  EXPECT_EQ(stored("on x=2,y=2: reshard bf16[8]+x.y -> bf16[8]+x -> bf16[8] wire=f32"), DType::bf16);
  EXPECT_EQ(stored("on x=1: reshard bf16[8]+x -> bf16[8]+x wire=f32"), DType::f64);
  EXPECT_EQ(stored("on x=2: einsum mk,kn->mn bf16[4,4]+x f32[4,4] -> f32[4,4] wire=f32"), DType::bf16);
  EXPECT_EQ(stored("on x=2: einsum mk,kn->mn bf16[4,4@x] bf16[4@x,4] -> f32[4,4] wire=f32"), DType::f64);
}

// An operand that the accumulator does not hold is rounded before it is multiplied.
TEST(Bound, CountsTheRoundingsOfOperands) {
  const auto terms = [](const char* line) { return reduction(parse_case(line)).terms; };
  EXPECT_EQ(terms("on x=1: einsum mk,kn->mn f64[4,8] f16[8,4] -> f64[4,4] acc=f32"), 9);
  EXPECT_EQ(terms("on x=1: einsum m,n->mn f64[4] f64[4] -> f64[4,4] acc=f32"), 3);
  EXPECT_EQ(terms("on x=1: einsum m,n->mn f16[4] f64[4] -> f32[4,4] acc=f32"), 2);
  EXPECT_EQ(terms("on x=1: einsum m,n->mn f32[4] f32[4] -> f32[4,4]"), 0);
}

}  // namespace
}  // namespace plumb
