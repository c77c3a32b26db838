#include "harness/trace/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trace/atoms.h"

namespace plumb {
namespace {

using testing::ElementsAre;

TEST(Cells, AreCutByTheEdgesOfEveryBlock) {
  const std::vector<Slice> begins{{{0, 4}}, {{4, 8}}}, ends{{{0, 6}}, {{2, 8}}};
  const auto cells = cells_of(begins, ends, 100);
  ASSERT_TRUE(cells);
  ASSERT_EQ(cells->boxes.size(), 4u);  // 0 2 4 6 8
  EXPECT_THAT(cells->needers,
              ElementsAre(ElementsAre(0), ElementsAre(0, 1), ElementsAre(0, 1), ElementsAre(1)));
}

TEST(Cells, EmptyBlocksCutNothing) {
  const auto cells = cells_of({{{0, 8}}, {{3, 3}}}, {{{0, 8}}, {{5, 5}}}, 100);
  ASSERT_TRUE(cells);
  ASSERT_EQ(cells->boxes.size(), 1u);
  EXPECT_THAT(cells->needers, ElementsAre(ElementsAre(0)));
}

// Four cells on two devices are eight to look at.
TEST(Cells, AreNotMadeWhereTheyAreTooMany) {
  const std::vector<Slice> begins{{{0, 4}}, {{4, 8}}}, ends{{{0, 6}}, {{2, 8}}};
  EXPECT_TRUE(cells_of(begins, ends, 8));
  EXPECT_FALSE(cells_of(begins, ends, 7));
}

Atoms bits(std::uint64_t word) { return {word}; }

// 0, then pairs 1 2, 3 4, ... make 21 atoms; pairs 0 1, 2 3, ... leave the last one. Both are held, and the
// search for the one that makes all does not try every choice among the others.
TEST(Atoms, ACoverIsFoundByItsFirstGap) {
  SetTable table;
  Family family;
  for (int i = 0; i < 20; i += 2) family.push_back(table.number(bits(3ull << i)));
  for (int i = 1; i < 20; i += 2) family.push_back(table.number(bits(3ull << i)));
  EXPECT_FALSE(table.makes(family, bits((1ull << 21) - 1)));
  family.push_back(table.number(bits(1)));
  EXPECT_TRUE(table.makes(family, bits((1ull << 21) - 1)));
  EXPECT_TRUE(table.makes(family, bits((1ull << 20) - 1)));
}

}  // namespace
}  // namespace plumb
