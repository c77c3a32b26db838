#include "harness/backend/movable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "adapters/protocol/message.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

Mesh mesh(const std::string& text) { return parse_case("on " + text + ": reshard f32[] -> f32[]").mesh; }

// What is wrong with it; empty where nothing is.
std::string said(const std::string& on, const Collective& c) {
  try {
    check_moved(c, mesh(on));
  } catch (const Malformed& e) {
    return e.what();
  }
  return "";
}

// One way of going about it, over n members, and the bytes that all of them receive.
struct Way {
  std::string name, kind;
  std::int64_t in, out, moved;
};

// Up a tree of doubling distance, each sending on what came to it: in units of what one member has.
std::int64_t gathered_up(std::int64_t n) {
  std::int64_t moved = 0;
  for (std::int64_t apart = 1; apart < n; apart *= 2)
    for (std::int64_t from = apart; from < n; from += 2 * apart) moved += std::min(apart, n - from);
  return moved;
}

// In steps of doubling distance (Bruck), of blocks that go on until they are there: in blocks.
std::int64_t exchanged_in_steps(std::int64_t n) {
  std::int64_t moved = 0;
  for (std::int64_t block = 1; block < n; ++block) moved += n * __builtin_popcountll(block);
  return moved;
}

std::int64_t steps(std::int64_t n) {
  std::int64_t s = 0;
  while (std::int64_t{1} << s < n) ++s;
  return s;
}

std::vector<Way> ways(std::int64_t n, std::int64_t b) {
  const std::int64_t all = n * b, others = n - 1;
  return {
      {"straight",                "all-gather",           b,   all, n * others * b                       },
      {"to one and to all",       "all-gather",           b,   all, others * b + others * all            },
      {"up a tree and down",      "all-gather",           b,   all, gathered_up(n) * b + others * all    },
      {"up a line and down",      "all-gather",           b,   all, n * others / 2 * b + others * all    },
      {"straight or in a ring",   "reduce-scatter",       all, b,   n * others * b                       },
      {"up a tree and cut",       "reduce-scatter",       all, b,   others * all + others * b            },
      {"and down a tree",         "reduce-scatter",       all, b,   others * all + gathered_up(n) * b    },
      {"summed everywhere",       "reduce-scatter",       all, b,   2 * others * all                     },
      {"operands on each",        "reduce-scatter",       all, b,   n * others * all                     },
      {"in a ring",               "all-reduce",           all, all, 2 * n * others * b                   },
      {"up a tree and down",      "all-reduce",           all, all, 2 * others * all                     },
      {"in doubling steps",       "all-reduce",           all, all, (n & others) ? 0 : n * steps(n) * all},
      {"operands on each",        "all-reduce",           all, all, n * others * all                     },
      {"straight",                "all-to-all",           all, all, n * others * b                       },
      {"in doubling steps",       "all-to-all",           all, all, exchanged_in_steps(n) * b            },
      {"nothing of its own",      "all-to-all",           all, all, n * all                              },
      {"straight",                "collective-broadcast", all, all, others * all                         },
      {"down a tree, and a ring", "collective-broadcast", all, all, gathered_up(n) * b + n * others * b  },
  };
}

TEST(Movable, HoldsWhateverARealOneMoves) {
  for (std::int64_t n = 2; n <= 33; ++n)
    for (const std::int64_t b : {4, 12, 4096})
      for (const Way& way : ways(n, b)) {
        Collective c{.kind = way.kind, .axes = {"x"}, .in = way.in, .out = way.out, .moved = way.moved};
        const std::string on = fmt::format("x={},y=3", n);
        *c.moved *= 3;
        EXPECT_EQ(said(on, c), "") << way.kind << " " << way.name << " over " << n;
        c.times = 5, *c.moved *= 5;
        EXPECT_EQ(said(on, c), "") << way.kind << " " << way.name << " over " << n << ", five times";
      }
}

TEST(Movable, HoldsNoMoreThanThese) {
  const struct {
    std::string on;
    Collective c;
    std::int64_t least, most;
  } table[] = {
      {"x=2",     {.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32},                   16,    48     },
      {"x=4",     {.kind = "all-gather", .axes = {"x"}, .in = 4, .out = 16},                    12,    72     },
      {"x=4,y=2", {.kind = "all-gather", .axes = {"x"}, .in = 4, .out = 16},                    12,    144    },
      {"x=4",     {.kind = "all-gather", .axes = {"x"}, .in = 4, .out = 4},                     12,    48     },
      {"x=4",     {.kind = "all-gather", .axes = {"x"}, .in = 8, .out = 20},                    24,    108    },
      {"x=4",     {.kind = "all-gather", .groups = {{0, 1, 2}, {3}}, .in = 4, .out = 12},       0,     36     },
      {"x=4",     {.kind = "all-reduce", .axes = {"x"}, .in = 4, .out = 4},                     12,    48     },
      {"x=2",     {.kind = "all-reduce", .axes = {"x"}, .in = 4, .out = 4},                     4,     8      },
      {"x=4",     {.kind = "reduce-scatter", .axes = {"x"}, .in = 16, .out = 4},                12,    192    },
      {"x=2",     {.kind = "reduce-scatter", .axes = {"x"}, .in = 24, .out = 24},               24,    48     },
      {"x=4",     {.kind = "reduce-scatter", .axes = {"x"}, .in = 99996, .out = 64},            192,   1199952},
      {"x=4",     {.kind = "all-to-all", .axes = {"x"}, .in = 16, .out = 16},                   0,     64     },
      {"x=8",     {.kind = "all-to-all", .axes = {"x"}, .in = 32, .out = 32},                   0,     384    },
      {"x=4",     {.kind = "all-to-all", .axes = {"x"}, .in = 99999, .out = 25000},             74999, 100000 },
      {"x=4",     {.kind = "collective-broadcast", .axes = {"x"}, .in = 4, .out = 4},           12,    24     },
      {"x=4",     {.kind = "collective-permute", .pairs = {{0, 1}, {1, 1}}, .in = 4, .out = 4}, 0,     4      },
      {"x=4",     {.kind = "send", .in = 0, .out = 8},                                          0,     32     },
      {"x=4",     {.kind = "send", .in = 8, .out = 0},                                          0,     96     },
      {"x=4",     {.kind = "send", .axes = {"x"}, .in = 64, .out = 8, .op = "add"},             0,     96     },
      {"x=4",     {.kind = "send", .axes = {"x"}, .in = 4, .out = 8, .op = "add"},              0,     48     },
      {"x=4",     {.kind = "send", .pairs = {{0, 1}, {0, 2}, {3, 3}}, .in = 16, .out = 100},    0,     32     },
      {"x=4",     {.kind = "send", .pairs = {{0, 1}, {0, 2}, {3, 3}}, .in = 100, .out = 8},     0,     16     },
      {"x=1,y=2", {.kind = "all-gather", .axes = {"x"}, .in = 4, .out = 4},                     0,     0      },
  };
  for (const auto& row : table) {
    const std::string what = fmt::format("{} on {}, {} to {}", row.c.kind, row.on, row.c.in, row.c.out);
    const Movable can = movable(row.c, mesh(row.on));
    EXPECT_EQ(static_cast<std::int64_t>(can.least), row.least) << what;
    EXPECT_EQ(static_cast<std::int64_t>(can.most), row.most) << what;
    const auto says = [&](std::int64_t moved) {
      Collective c = row.c;
      c.moved = moved;
      return said(row.on, c);
    };
    for (const std::int64_t moved : {std::int64_t{-1}, std::int64_t{0}, row.least, row.most})
      EXPECT_EQ(says(moved), "") << what << ", moved " << moved;
    EXPECT_THAT(says(row.most + 1), HasSubstr(fmt::format("moves {} at most", row.most))) << what;
    EXPECT_THAT(says(1'000'000'000'000'000), HasSubstr("at most")) << what;
    if (row.least > 1) {
      EXPECT_THAT(says(row.least - 1), HasSubstr(fmt::format("moves {} at least", row.least))) << what;
    }
  }
}

TEST(Movable, ASendOfWhichNothingIsKnownMayBeOfAnySize) {
  EXPECT_EQ(said("x=2", {.kind = "send", .moved = 1'000'000'000'000'000}), "");
}

TEST(Movable, NumbersDoNotOverflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const char* kind :
       {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-broadcast", "send"}) {
    const Collective c{.kind = kind, .axes = {"x"}, .in = most, .out = most, .times = most_times};
    const Movable can = movable(c, mesh("x=1048576"));
    EXPECT_LE(can.least, can.most) << kind;
    EXPECT_GT(can.most, most) << kind;
  }
}

}  // namespace
}  // namespace plumb
