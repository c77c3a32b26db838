// Which devices lack a part that was left out, and along which axes.
#include "reference/hlo/prove/lack.h"

#include <gtest/gtest.h>

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
