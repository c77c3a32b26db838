#include "harness/backend/request.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

// f32[16,1,1,...] of this rank, whole on each of many devices: rows of the table weigh as much as the data.
Case of_rank(int rank) {
  std::string shape = "16";
  for (int d = 1; d < rank; ++d) shape += ",1";
  return parse_case(fmt::format("on x=65536: reshard f32[{0}] -> f32[{0}]", shape));
}

TEST(Request, TheArenaHasRoomForBlocksAndTheirRowsAtEveryRank) {
  for (int rank = 1; rank <= 30; ++rank) {
    const Case c = of_rank(rank);
    const Layout layout = layout_of(c, std::vector<Tensor>{zeros(DType::f32, shape(c.op.operands[0]))});
    const std::uint64_t row = 8 * (5 + 3 * rank), blocks = 65536 * 64, table = 65536 * row;
    EXPECT_GE(layout.arena - layout.free, blocks + table) << rank;
    EXPECT_GE(layout.due, blocks + table) << rank;
  }
}

}  // namespace
}  // namespace plumb
