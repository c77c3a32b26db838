#include "harness/measure/bandwidth.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

struct Row {
  const char *line, *kind;
  std::int64_t devices;
  double bytes, factor;
};

// By nccl-tests' PERFORMANCE.md: S and the factor of each.
const Row rows[] = {
    {"on x=4: reshard f32[8]+x -> f32[8]",                  "all-reduce",     4, 32, 1.5 },
    {"on x=4: reshard f32[8]+x -> f32[8@x]",                "reduce-scatter", 4, 32, 0.75},
    {"on x=4: reshard f32[8@x] -> f32[8]",                  "all-gather",     4, 32, 0.75},
    {"on x=4: reshard f32[8@x,4] -> f32[8,4@x]",            "all-to-all",     4, 32, 0.75},
    {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]",        "permute",        1, 8,  1   },
    {"on dp=2,fsdp=2: reshard f32[8]+dp.fsdp -> f32[8]",    "all-reduce",     4, 32, 1.5 },
    {"on dp=2,tp=4: reshard f32[8@tp]+dp -> f32[8@tp]",     "all-reduce",     2, 8,  1   },
    {"on dp=2,tp=2: reshard f32[8,4@tp]+dp -> f32[8@dp,4]", "redistribution", 4, 64, 1   },
    {"on x=1,y=2: reshard f32[4@x.y] -> f32[4]",            "all-gather",     2, 16, 0.5 },
    {"on x=4: reshard f32[8] -> f32[8]",                    "copy",           4, 32, 0   },
    {"on x=4: reshard f32[8] -> f32[8@x]",                  "copy",           4, 8,  0   },
    {"on x=4: reshard f32[8] -> f32[8]+x",                  "copy",           4, 32, 0   },
    {"on x=1: reshard f32[8@x] -> f32[8]",                  "copy",           1, 32, 0   },
    {"on x=1: reshard f32[8]+x -> f32[8]",                  "copy",           1, 32, 0   },
    {"on x=1,y=2: reshard f32[8@x.y] -> f32[8@y.x]",        "copy",           2, 16, 0   },
    {"on x=4: reshard f32[8] -> f32[8@x] -> f32[8]",        "redistribution", 4, 0,  1   },
    {"on x=4: reshard bf16[8]+x -> bf16[8@x] -> bf16[8]",   "redistribution", 4, 16, 1   },
};

TEST(Bandwidth, SizesAndFactorsAreThoseOfNcclTests) {
  for (const Row& row : rows) {
    const Work w = work(parse_case(row.line));
    EXPECT_EQ(w.kind, row.kind) << row.line;
    EXPECT_EQ(w.devices, row.devices) << row.line;
    EXPECT_EQ(w.factor, row.factor) << row.line;
    EXPECT_EQ(w.bytes, row.bytes) << row.line;
  }
}

TEST(Bandwidth, OneGigabyteASecondIsABillionBytes) {
  const Work w = work(parse_case("on x=4: reshard f32[250000000]+x -> f32[250000000]"));
  EXPECT_EQ(algorithm_bandwidth(w, 1e9), 1);
  EXPECT_EQ(bus_bandwidth(w, 1e9), 1.5);
  EXPECT_EQ(factor_in_words(w), "2(n-1)/n");
}

TEST(Bandwidth, ProductsAreCountedByTheirLetters) {
  EXPECT_EQ(work(parse_case("on x=2: einsum mk,kn->mn f32[8@x,4] f32[4,6] -> f32[8@x,6]")).flops,
            2 * 8 * 4 * 6);
  EXPECT_EQ(work(parse_case("on x=2: einsum bsh,bsf->hf f32[4@x,2,8] f32[4@x,2,6] -> f32[8,6]")).flops,
            2 * 4 * 2 * 8 * 6);
  EXPECT_EQ(work(parse_case("on ep=2: grouped fwd f32[8@ep,4] f32[2@ep,4,6] sizes=3,4 -> f32[8@ep,6]")).flops,
            2 * 7 * 4 * 6);
  EXPECT_EQ(
      work(parse_case("on ep=2: grouped dgrad f32[8@ep,6] f32[2@ep,4,6] sizes=3,5 -> f32[8@ep,4]")).flops,
      2 * 8 * 4 * 6);
  EXPECT_EQ(
      work(parse_case("on ep=2: grouped wgrad f32[8@ep,4] f32[8@ep,6] sizes=3,5 -> f32[2@ep,4,6]")).flops,
      2 * 8 * 4 * 6);
}

// By its own count, or as the table of prices has it.
TEST(Bandwidth, BytesOverAxesAreThoseOfTheTrace) {
  const Case c = parse_case("on dp=2,tp=4: reshard f32[64@dp.tp] -> f32[64]");
  const auto one = [](const char* kind, const char* axis, std::int64_t in, std::int64_t out) {
    Collective made;
    made.kind = kind, made.axes = {axis}, made.in = in, made.out = out;
    return made;
  };
  Trace trace{one("all-gather", "tp", 32, 128), one("all-gather", "tp", 32, 128),
              one("all-reduce", "dp", 256, 256)};
  trace[0].moved = std::int64_t{8} * 96, trace[2].times = 2;
  Collective& swap = trace.emplace_back();
  swap.kind = "collective-permute", swap.pairs.emplace_back(0, 1),
  swap.in = swap.out = swap.moved.emplace(16);
  const std::map<std::string, double> want{
      {"tp", 192},
      {"dp", 512},
      {"-",  2  }
  };
  EXPECT_EQ(bytes_over_axes(c, trace), want);
}

}  // namespace
}  // namespace plumb
