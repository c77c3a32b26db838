#include <gtest/gtest.h>

#include <numeric>

#include "reference/bytes/bytes.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(Price, IsTheTextbooks) {
  struct {
    const char* kind;
    std::int64_t n, in, out, bytes;
  } const rows[] = {
      {"all-reduce",           4, 64, 64, 96},
      {"all-reduce",           2, 64, 64, 64},
      {"all-reduce",           3, 4,  4,  6 },
      {"all-reduce",           1, 64, 64, 0 },
      {"reduce-scatter",       4, 64, 16, 48},
      {"all-gather",           4, 16, 64, 48},
      {"all-to-all",           4, 64, 64, 48},
      {"collective-permute",   4, 64, 64, 64},
      {"collective-broadcast", 4, 64, 64, 48},
      {"collective-hug",       4, 64, 64, -1},
  };
  for (const auto& row : rows)
    EXPECT_EQ(price(row.kind, row.n, row.in, row.out), row.bytes) << row.kind << row.n;
}

std::int64_t total_of(const std::vector<std::int64_t>& all) {
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

// A collective is the cheapest plan of the reshard that it is, whatever the number of devices; where
// nothing is summed it meets the bound on each device too.
TEST(Price, IsThatOfTheReshardThatACollectiveIs) {
  for (std::int64_t n : {1, 2, 3, 4, 8, 12}) {
    const std::string mesh = "on x=" + std::to_string(n) + ": reshard ", one = std::to_string(n * n);
    const std::int64_t whole = 4 * n * n, piece = whole / n;
    struct {
      std::string reshard, kind;
      std::int64_t in, out;
      bool finished;
    } const rows[] = {
        {"f32[" + one + "@x] -> f32[" + one + "]",   "all-gather",     piece, whole, true },
        {"f32[" + one + "]+x -> f32[" + one + "@x]", "reduce-scatter", whole, piece, false},
        {"f32[" + one + "]+x -> f32[" + one + "]",   "all-reduce",     whole, whole, false},
        {"f32[" + std::to_string(n) + "@x," + std::to_string(n) + "] -> f32[" + std::to_string(n) + "," +
             std::to_string(n) + "@x]",
         "all-to-all",                                                 piece, piece, true },
    };
    for (const auto& row : rows) {
      const Case c = parse_case(mesh + row.reshard);
      const std::int64_t each = price(row.kind, n, row.in, row.out);
      EXPECT_EQ(best_known(c).bytes, n * each) << print(c);
      if (row.finished) {
        EXPECT_EQ(fewest_bytes(c), std::vector<std::int64_t>(n, each)) << print(c);
      } else {
        EXPECT_EQ(fewest_bytes(c), std::vector<std::int64_t>(n, n > 1 ? row.out : 0)) << print(c);
      }
      EXPECT_LE(total_of(fewest_bytes(c)), best_known(c).bytes);
    }
  }
}

}  // namespace
}  // namespace plumb
