// Law: what a line must move, and the best known plan, stay what they are. golden/bytes.txt has blocks of
// drawn lines, each block with a digest.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <numeric>

#include "reference/bytes/bytes.h"
#include "reference/words/testing/draw_line.h"
#include "reference/words/testing/pins.h"

namespace plumb {
namespace {

std::string said(const Case& c) {
  const std::vector<std::int64_t> fewest = fewest_bytes(c);
  const BestKnown best = best_known(c);
  if (!fewest.empty() && best.bytes >= 0) {
    EXPECT_LE(std::accumulate(fewest.begin(), fewest.end(), std::int64_t{0}), best.bytes) << print(c);
  }
  return fmt::format("{}\n  {} {} {}\n  {}\n{}\n", print(c), fmt::join(fewest, ","),
                     is_reshard(c) ? least_bytes(c) : 0, best.bytes, best.family, derivation(c));
}

std::string block_of_lines(const std::string& number) {
  Random random{std::mt19937_64(std::stoull(number))};
  std::string text;
  for (int i = 0; i < 12; ++i) text += said(draw_to_run(random));
  for (const char* kind : {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "collective-permute",
                           "collective-broadcast", "send"})
    for (int i = 0; i < 4; ++i)
      text += fmt::format("{} ", price(kind, 1 + random.below(9), random.bits() >> random.below(64) >> 2,
                                       random.bits() >> random.below(64) >> 2));
  return text;
}

TEST(Bytes, AreWhatTheyWere) { expect_pinned(PLUMB_GOLDEN "/bytes.txt", numbered(400), block_of_lines); }

}  // namespace
}  // namespace plumb
