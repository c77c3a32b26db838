// What nvcc makes of the kernels that write data (its PTX, by adapters/cuda/testing), against the recipe: a backend's
// own proofs use these kernels too, and would believe them.
#include <gtest/gtest.h>

#include "reference/check/device/there.h"
#include "reference/check/digest.h"
#include "reference/fill/fill.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr int kCases = 3000;

// Written on the card, and brought here.
std::vector<std::byte> written_there(const Recipe& r, const Portion& portion, std::size_t bytes) {
  const DeviceCheck& card = check_on_card();
  std::byte* there = card.memory.allocate(bytes);
  write_there(card, r, portion, there);
  std::vector<std::byte> here(bytes);
  card.memory.get(here.data(), there, bytes);
  card.memory.free(there);
  return here;
}

TEST(CardData, IsWhatTheRecipeSays) {
  Random random{std::mt19937_64(17)};
  std::set<Fill> fills;
  for (int i = 0; i < kCases; ++i) {
    const Case c = draw_to_run(random);
    const Recipe r = recipe(c);
    for (std::size_t operand = 0; operand < r.sources.size(); ++operand) {
      const Source& source = r.sources[operand];
      Slice all;
      for (std::int64_t size : source.shape) all.push_back({size / 3, size});
      std::vector<std::byte> here(elements(all) * format(source.dtype).bytes);
      for (std::int64_t part = 0; part < source.parts && !here.empty(); ++part) {
        const Portion portion{static_cast<int>(operand), part, all};
        write(r, portion, here.data());
        ASSERT_TRUE(here == written_there(r, portion, here.size()))
            << print(c) << " operand " << operand << " part " << part;
      }
    }
    fills.insert(c.fill);
  }
  EXPECT_EQ(fills.size(), 4u);
}

}  // namespace
}  // namespace plumb
