// What of a result that devices hold is compared, and how far apart reals must be.
#include "reference/hlo/prove/compare.h"

#include <gtest/gtest.h>

namespace plumb::hlo {
namespace {

Array<Twin> of(std::initializer_list<double> numbers, double error = 0) {
  Array<Twin> a{Type::f64, {std::ssize(numbers)}, 1, {}, {}};
  for (const double x : numbers) a.reals.push_back({x, error, residue_of(x), {}});
  return a;
}

const Division kOneDevice{{1}, 1, {Share{{0}}}};  // on one device

Compared compared(const Array<Twin>& whole, const Array<Twin>& held, bool by_errors = false,
                  double usual = 0) {
  Pairs pairs;
  return compare_sides(pairs, {whole, held, by_errors, usual}, kOneDevice);
}

TEST(Compare, RealsDifferByMoreThanAPartOfTheLargest) {
  const Array<Twin> whole = of({1, -4});
  EXPECT_EQ(compared(whole, whole).difference.elements, 0);
  EXPECT_FALSE(compared(whole, of({1 + 0x1p-18, -4})).reals_differ) << "2^-20 of 4";
  EXPECT_TRUE(compared(whole, of({1 + 0x1p-18 + 0x1p-40, -4})).reals_differ);
  EXPECT_EQ(compared(whole, of({1 + 0x1p-40, -4})).difference.elements, 1) << "residues differ all the same";
  EXPECT_EQ(compared(whole, of({1, 4})).difference.index, Integers{1});
  EXPECT_EQ(compared(whole, of({1, 4})).largest, 4);
}

TEST(Compare, OrOfWhatIsUsual) {
  const Array<Twin> whole = of({0, 0}), held = of({0x1p-18, 0});
  EXPECT_TRUE(compared(whole, held).reals_differ);
  EXPECT_TRUE(compared(whole, held, false, 3).reals_differ);
  EXPECT_FALSE(compared(whole, held, false, 4).reals_differ);
}

TEST(Compare, AndThanTheyMayBeOff) {
  const Array<Twin> whole = of({1, 2}, 0.5);
  EXPECT_TRUE(compared(whole, of({2, 2}, 0.5)).reals_differ);
  EXPECT_FALSE(compared(whole, of({2, 2}, 0.5), true).reals_differ) << "by as much as both errors";
  EXPECT_TRUE(compared(whole, of({2.25, 2}, 0.5), true).reals_differ);
}

// Of predicates alone one may be undecided, and shows nothing: 2 is an integer like others.
TEST(Compare, OnlyAPredicateMayBeUndecided) {
  const auto integers = [](Type type, std::int64_t x) { return Array<Twin>{type, {1}, 1, {x}, {}}; };
  for (std::int64_t a = 0; a < 4; ++a)
    for (std::int64_t b = 0; b < 4; ++b) {
      EXPECT_EQ(compared(integers(Type::s32, a), integers(Type::s32, b)).reals_differ, a != b);
      EXPECT_EQ(compared(integers(Type::pred, a), integers(Type::pred, b)).reals_differ,
                a != b && a < 2 && b < 2);
    }
}

TEST(Compare, AnInfiniteElementIsSaid) {
  EXPECT_TRUE(compared(of({1, 2}), of({1, 2})).finite);
  Array<Twin> whole = of({1, 2});
  whole.reals[1].real = HUGE_VAL;
  EXPECT_FALSE(compared(whole, whole).finite);
  EXPECT_EQ(compared(whole, whole).largest, 1);
}

}  // namespace
}  // namespace plumb::hlo
