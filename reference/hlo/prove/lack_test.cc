// Which devices lack a part that was left out, and along which axes.
#include "reference/hlo/prove/lack.h"

#include <gtest/gtest.h>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {
namespace {

// Six devices, of which device 3 r + c holds part (r, c) of two times three.
Sharing shared_by(Opcode opcode) {
  return {
      opcode, {{2, 3}, {0, 1, 2, 3, 4, 5}, {0, 0, 0, 0, 0, 0}}
  };
}

TEST(Lack, OfAnExtremeADeviceLacksTheChosenPartAlongEachAxisInWhichItsOwnDiffers) {
  const Sharing how = shared_by(Opcode::maximum);
  EXPECT_EQ(ways_to_lack(how), 0b11u);
  for (std::int64_t chosen = 0; chosen < 6; ++chosen)
    for (std::int64_t device = 0; device < 6; ++device)
      EXPECT_EQ(lacked_by(how, {0, 0, {chosen}}, device),
                (chosen / 3 != device / 3 ? 0b01u : 0u) | (chosen % 3 != device % 3 ? 0b10u : 0u))
          << chosen << " " << device;
}

// Of a sum the part whose device is not told along the first axis, the second, and both: those that do not
// differ there.
TEST(Lack, OfASumTheDevicesThatAreAsTheChosenOneAlongTheAxes) {
  const Sharing how = shared_by(Opcode::add);
  EXPECT_EQ(ways_to_lack(how), 0b111u);
  for (std::int64_t chosen = 0; chosen < 6; ++chosen)
    for (std::int64_t device = 0; device < 6; ++device) {
      const bool rows = chosen / 3 == device / 3, columns = chosen % 3 == device % 3;
      const bool lacks[] = {rows, columns, rows && columns};
      for (int way = 0; way < 3; ++way)
        EXPECT_EQ(lacked_by(how, {0, way, {chosen}}, device), lacks[way] ? 1u << way : 0u)
            << chosen << " " << device;
    }
}

TEST(Lack, NobodyLacksWhatWasNotChosen) {
  for (const Opcode opcode : {Opcode::maximum, Opcode::add})
    for (std::int64_t device = 0; device < 6; ++device) {
      EXPECT_EQ(lacked_by(shared_by(opcode), {}, device), 0u);
      EXPECT_EQ(lacked_by(shared_by(opcode), {0, 0, {-1}}, device), 0u);
    }
}

// Where the others hold the largest term a device lacks it: it is the neighbour, along the axes of which it
// is not told, of who holds that, and knows what lies as it does itself there.
TEST(Lack, OfASumThePartOfANeighbourOfWhoHoldsTheLargest) {
  const Module module = parse(R"(HloModule m

%sum (a: s32[], b: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %s = s32[] add(%a, %b)
}

ENTRY %e {
  %x = s32[2,3] parameter(0)
  %o = s32[] constant(0)
  ROOT %r = s32[] reduce(%x, %o), dimensions={0,1}, to_apply=%sum
}
)",
                              "m.txt");
  const Instruction& reduce = entry(module).instructions.back();
  const Sharing how = shared_by(Opcode::add);
  const std::int64_t axes[][2] = {
      {1, 0},
      {0, 1},
      {1, 1}
  };
  for (std::int64_t largest = 0; largest < 6; ++largest)
    for (int way = 0; way < 3; ++way) {
      const auto [rows, columns] = axes[way];
      const std::int64_t row = (largest / 3 + rows) % 2, column = (largest % 3 + columns) % 3;
      Integers terms = {1, 2, 4, 8, 16, 32};
      terms[static_cast<std::size_t>(largest)] = 1000;
      std::int64_t known = 0;
      for (std::int64_t t = 0; t < 6; ++t)
        if ((rows == 0 || t / 3 == row) && (columns == 0 || t % 3 == column))
          known += terms[static_cast<std::size_t>(t)];
      const std::vector<Value<Twin>> operands = {
          value(Array<Twin>{Type::s32, {2, 3}, 1, terms, {}}
          ), value(Array<Twin>{Type::s32, {},     1, {0},   {}}
          )
      };
      Pairs pairs{7};
      Lack lack{0, way};
      const auto held = without_part(pairs, {how, reduce, operands}, lack);
      ASSERT_TRUE(held) << largest << " " << way;
      EXPECT_EQ(lack.chosen, Integers{3 * row + column}) << largest << " " << way;
      EXPECT_EQ(held->integers, Integers{known}) << largest << " " << way;
    }
}

// Where nobody knows who holds what there is one part, and each device lacks it.
TEST(Lack, WhereNobodyKnowsPartsAllLackTheOne) {
  const Sharing how{
      Opcode::maximum, {{}, {}, {}}
  };
  EXPECT_EQ(ways_to_lack(how), 1u);
  EXPECT_EQ(lacked_by(how, {}, 0), 1u);
}

}  // namespace
}  // namespace plumb::hlo
