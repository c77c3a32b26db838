#include "harness/trace/untrue_sizes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

std::string what_is_untrue(const std::string& line, const Trace& trace) {
  return untrue_sizes(parse_case(line), trace);
}

TEST(UntrueSizes, NobodySendsMoreThanThereIs) {
  const auto says = [](std::int64_t moved, std::int64_t times) {
    return what_is_untrue("on x=2: reshard f32[8@x] -> f32[8]",
                          {
                              {.kind = "send", .moved = moved, .times = times}
    });
  };
  EXPECT_EQ(says(2 * 2 * 2 * 32, 1), "");
  EXPECT_THAT(says(2 * 2 * 2 * 32 + 1, 1), HasSubstr("more than all arrays have, from each device to each"));
  EXPECT_THAT(says(1'000'000'000'000'000, 1), HasSubstr("one send moved 1000000000000000 bytes"));
  EXPECT_EQ(says(1'000'000'000'000'000, std::int64_t{1} << 42), "") << "nobody knows what a loop sends again";
  EXPECT_EQ(says(-1, 1), "");
}

// Cut over 64 devices in any way: [64,19] is the most.
TEST(UntrueSizes, ArraysArePaddedOnce) {
  const auto says = [](std::int64_t in) {
    return what_is_untrue("on x=64: reshard s8[5,19@x] -> s8[5,19]",
                          {
                              {.kind = "all-gather", .axes = {"x"}, .in = in, .out = in, .moved = 64}
    });
  };
  EXPECT_EQ(says(2 * 4 * 64 * 19), "");
  EXPECT_THAT(says(2 * 4 * 64 * 19 + 1), HasSubstr("more than all arrays have"));
  EXPECT_THAT(says(100000), HasSubstr("one all-gather of 100000 bytes, more than all arrays have"));
}

// Over all devices, replicas too: of each the block that it has, and of all of them together more than there
// is.
TEST(UntrueSizes, WhatAllDevicesHaveIsBroughtToOne) {
  const std::string line = "on x=3,y=2: reshard f32[12,12@y] -> f32[12,12@x]";
  const std::vector<std::vector<std::int64_t>> all{
      {0, 1, 2, 3, 4, 5}
  };
  EXPECT_EQ(what_is_untrue(line,
                           {
                               {.kind = "all-gather", .groups = all, .in = 288, .out = 6 * 288}
  }),
            "");
  EXPECT_EQ(what_is_untrue(line,
                           {
                               {.kind = "all-to-all", .groups = all, .in = 6 * 288, .out = 6 * 288}
  }),
            "");
  EXPECT_EQ(what_is_untrue(line,
                           {
                               {.kind = "send", .groups = all, .in = 5 * 288, .out = 5 * 288}
  }),
            "");
  for (const char* kind : {"all-to-all", "send"})
    EXPECT_THAT(what_is_untrue(line,
                               {
                                   {.kind = kind, .groups = all, .in = 100000, .out = 100000}
    }),
                HasSubstr("100000 bytes, more than all arrays have"));
  for (const char* kind : {"all-reduce", "collective-broadcast", "collective-permute"})
    EXPECT_THAT(what_is_untrue(line,
                               {
                                   {.kind = kind, .groups = all, .in = 6 * 288, .out = 6 * 288}
    }),
                HasSubstr("1728 bytes, more than all arrays have"));
}

TEST(UntrueSizes, AScatterMakesNoMoreThanItHas) {
  const auto says = [](std::int64_t in, std::int64_t out) {
    return what_is_untrue("on x=4: reshard f32[8]+x -> f32[8@x]",
                          {
                              {.kind = "reduce-scatter", .axes = {"x"}, .in = in, .out = out, .op = "add"}
    });
  };
  EXPECT_EQ(says(32, 8), "");
  EXPECT_THAT(says(16, 8), HasSubstr("one reduce-scatter over 4 devices makes 8 bytes of 16"));
}

// in and out are those of the devices that have most.
TEST(UntrueSizes, AnAllToAllGrowsAsUnevenBlocksDo) {
  const auto says = [](const std::string& arrays, std::int64_t in, std::int64_t out) {
    return what_is_untrue("on x=4: reshard " + arrays,
                          {
                              {.kind = "all-to-all", .axes = {"x"}, .in = in, .out = out}
    });
  };
  const std::string even = "f32[8@x,4] -> f32[8,4@x]";
  EXPECT_EQ(says(even, 32, 32), "");
  for (const auto& [in, out] : {
           std::pair{32, 33 },
           {33, 32 },
           {8,  32 },
           {32, 128}
  })
    EXPECT_THAT(says(even, in, out), HasSubstr("one all-to-all over 4 devices makes")) << in << " " << out;
  // 5 rows as 2, 2, 1, 0; a column each
  EXPECT_EQ(says("f32[5@x,4] -> f32[5,4@x]", 32, 20), "");
  EXPECT_EQ(says("f32[5,4@x] -> f32[5@x,4]", 20, 32), "");
  EXPECT_EQ(says("f32[5@x,4] -> f32[5,4@x]", 32, 32), "") << "padded";
  EXPECT_THAT(says("f32[5@x,4] -> f32[5,4@x]", 33, 20), HasSubstr("one all-to-all"));
  // one row, on one device
  EXPECT_EQ(says("f32[1@x,4] -> f32[1,4@x]", 16, 4), "");
  EXPECT_THAT(says("f32[1@x,4] -> f32[1,4@x]", 17, 4), HasSubstr("one all-to-all"));
  EXPECT_EQ(says("f32[5@x,1] -> f32[5,1@x]", 8, 20), "");
  EXPECT_EQ(says("f32[0@x,4] -> f32[0,4@x]", 0, 0), "");
  EXPECT_EQ(what_is_untrue("on x=4: reshard f32[8@x,4] -> f32[8,4@x]",
                           {
                               {.kind = "all-to-all", .axes = {"x"}, .in = 48, .out = 32, .moved = 96}
  }),
            "")
      << "of what several have one sends more than another, and the bytes are counted";
}

// A gather makes n pieces one, of which the last may be shorter.
TEST(UntrueSizes, PiecesMakeAWhole) {
  const auto says = [](const char* kind, const std::string& arrays, std::int64_t in, std::int64_t out) {
    return what_is_untrue("on x=4: reshard " + arrays,
                          {
                              {.kind = kind, .axes = {"x"}, .in = in, .out = out}
    });
  };
  EXPECT_EQ(says("all-gather", "f32[8@x] -> f32[8]", 8, 32), "");
  EXPECT_THAT(says("all-gather", "f32[8@x] -> f32[8]", 9, 32), HasSubstr("one all-gather over 4 devices"));
  EXPECT_EQ(says("all-gather", "f32[5@x] -> f32[5]", 8, 20), "") << "2, 2, 1, 0";
  EXPECT_EQ(says("all-gather", "f32[5@x] -> f32[5]", 8, 32), "") << "padded";
  EXPECT_THAT(says("all-gather", "f32[5@x] -> f32[5]", 12, 20), HasSubstr("one all-gather"));
  EXPECT_EQ(says("all-gather", "f32[5]+x -> f32[5]", 12, 20), "") << "of sums that lie as they like";
  EXPECT_EQ(what_is_untrue("on x=4: reshard f32[8@x] -> f32[8]",
                           {
                               {.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .moved = 96}
  }),
            "")
      << "two have a half each, and the bytes are counted";
}

// A gather of values in a type of more bytes than they have.
TEST(UntrueSizes, PiecesMayMoveInAWiderType) {
  const auto says = [](const std::string& held, const char* dtype, std::int64_t in) {
    return what_is_untrue(
        fmt::format("on x=2: reshard {0}[8@x] -> {0}[8]", held),
        {
            {.kind = "all-gather", .axes = {"x"}, .in = in, .out = 2 * in, .dtype = dtype}
    });
  };
  for (const char* dtype : {"f64", "s64", "u64", "c64"}) EXPECT_EQ(says("f32", dtype, 32), "") << dtype;
  for (const char* dtype : {"f64", "s64"}) {
    EXPECT_EQ(says("s8", dtype, 32), "") << dtype;
    EXPECT_EQ(says("bf16", dtype, 32), "") << dtype;
  }
  EXPECT_EQ(says("bf16", "", 16), "") << "as f32";
  for (const char* dtype : {"", "f32", "s32", "u8", "s8", "bf16"})
    EXPECT_THAT(says("f32", dtype, 32), HasSubstr("an all-gather of all 32 bytes")) << dtype;
  EXPECT_THAT(says("bf16", "f32", 32), HasSubstr("an all-gather of all 16 bytes"));
}

// The bound is one of the definition: of every way to cut small arrays into as many pieces, before and after.
TEST(UntrueSizes, BlocksOfEveryLayoutAreWithinTheBound) {
  for (const char* mesh : {"x=2,y=2", "x=3,y=2", "x=4"})
    for (const char* shape : {"[1,4]", "[2,3]", "[5,4]", "[5,6]", "[7]"}) {
      const Mesh m = parse_mesh(mesh);
      const Spec bare = parse_spec("f32" + std::string(shape), m);
      const std::vector<Spec> all = all_specs(m, DType::f32, plumb::shape(bare), false);
      for (Rule rule : {Rule::flat, Rule::nested})
        for (const Spec& a : all)
          for (const Spec& b : all) {
            std::int64_t cut_a = 1, cut_b = 1;
            for (const Dim& dim : a.dims) cut_a *= axes_size(m, dim.axes);
            for (const Dim& dim : b.dims) cut_b *= axes_size(m, dim.axes);
            if (cut_a != cut_b) continue;
            const std::string line = fmt::format("on {}: reshard {} -> {}{}", mesh, print(m, a), print(m, b),
                                                 rule == Rule::nested ? " nested" : "");
            ASSERT_EQ(what_is_untrue(line,
                                     {
                                         {.kind = "all-to-all",
                                          .axes = {"x"},
                                          .in = largest_block_bytes(m, a, rule),
                                          .out = largest_block_bytes(m, b, rule)}
            }),
                      "")
                << line;
          }
    }
}

}  // namespace
}  // namespace plumb
