#include "reference/check/rings.h"

#include <gtest/gtest.h>

#include <set>

namespace plumb {
namespace {

// The largest values that there are, more of them than a sum takes unfolded: against the field itself.
TEST(PrimeField, SumsOfAnyLengthAreThoseOfTheField) {
  const std::int64_t n = 1 << 15, largest = std::int64_t{1} << 53;
  for (std::int64_t value : {largest, -largest, std::int64_t{-1}}) {
    const std::vector<std::int64_t> values(n, value);
    const std::vector<PrimeField::Weight> weights(n, static_cast<std::int64_t>(Residue::p - 1));
    PrimeField::Sum sum = 5;
    PrimeField::add(values.data(), n, weights.data(), 1, &sum, 0);
    EXPECT_EQ(static_cast<std::uint64_t>(PrimeField::folded(sum)),
              (residue(std::int64_t{5}) + residue(n) * residue(value) * Residue{Residue::p - 1}).value);
  }
}

TEST(PrimeField, IntegersComeBack) {
  const auto half = static_cast<std::int64_t>(Residue::p / 2);
  for (std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{77}, -(std::int64_t{1} << 30), half, -half})
    EXPECT_EQ(PrimeField::integer(PrimeField::folded(n)), n);
}

TEST(PrimeField, DrawsDifferAndLieInTheField) {
  std::set<std::int64_t> drawn;
  for (std::int64_t i = 0; i < 1000; ++i) drawn.insert(PrimeField::draw(9, i));
  EXPECT_EQ(drawn.size(), 1000);
  EXPECT_GE(*drawn.begin(), 0);
  EXPECT_LT(*drawn.rbegin(), static_cast<std::int64_t>(Residue::p));
}

// An error in the highest bit alone shows in some of the 64 words, as long as words are compared whole.
TEST(WordLanes, TheHighestBitIsSeen) {
  const WordLanes::Weight r = WordLanes::draw(3, 0);
  for (DType dtype : {DType::s8, DType::s32}) {
    const std::int64_t highest = std::int64_t{1} << (8 * format(dtype).bytes - 1);
    WordLanes::Sum right{}, wrong{}, wrapped{};
    const std::int64_t values[] = {5, 5 + highest, 5 + 2 * highest};
    WordLanes::add(values, 1, &r, 0, &right, 0);
    WordLanes::add(values + 1, 1, &r, 0, &wrong, 0);
    WordLanes::add(values + 2, 1, &r, 0, &wrapped, 0);
    EXPECT_FALSE(WordLanes::equal(right, wrong, dtype));
    EXPECT_TRUE(WordLanes::equal(right, wrapped, dtype));
  }
}

}  // namespace
}  // namespace plumb
