#include "harness/trace/untrue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

std::string why(const std::string& line, const Trace& trace) { return untrue(parse_case(line), trace, true); }

Collective reduce(const std::string& op) {
  return {.kind = "all-reduce", .axes = {"x"}, .in = 32, .out = 32, .op = op};
}

TEST(Untrue, ASumIsTakenBySumsAndByNothingElse) {
  const std::string sum = "on x=2: reshard f32[8]+x -> f32[8]";
  for (const char* op : {"", "add", "sum", "a name of their own"})
    EXPECT_EQ(why(sum, {reduce(op)}), "") << op;
  for (const char* op : {"mul", "prod", "xor", "and", "band"})
    EXPECT_THAT(why(sum, {reduce(op)}), HasSubstr("where sums are due")) << op;
  EXPECT_THAT(why(sum, {reduce("max")}), HasSubstr("it takes the max, where sums are due"));
  EXPECT_EQ(why(sum, {reduce("add"), reduce("or")}), "") << "beside a sum it may be of something else";
}

// What is added up along an axis, or is alike along it, is its own maximum.
TEST(Untrue, AMaximumOfReplicasStandsForNoSum) {
  const auto says = [](const std::string& line,
                       std::vector<std::pair<const char*, std::vector<std::string>>> all) {
    Trace trace;
    for (const auto& [op, axes] : all) {
      trace.push_back(reduce(op));
      trace.back().axes = axes;
    }
    return why("on x=2,y=2: " + line, trace);
  };
  const std::string one = "reshard f32[8]+x -> f32[8]", both = "reshard f32[8]+x.y -> f32[8]",
                    left = "reshard f32[8]+x.y -> f32[8]+y", moved = "reshard f32[8@x] -> f32[8]",
                    product = "einsum mk,kn->mn f32[4,8@x] f32[8@x,2] -> f32[4,2]";
  for (const std::string& line : {one, product}) {
    EXPECT_EQ(says(line,
                   {
                       {"add", {"x"}},
                       {"max", {"x"}}
    }),
              "");
    EXPECT_EQ(says(line,
                   {
                       {"max", {"y"}},
                       {"add", {"x"}}
    }),
              "");
    EXPECT_THAT(says(line,
                     {
                         {"max", {"x"}}
    }),
                HasSubstr("it takes the max, where sums are due"));
    EXPECT_THAT(says(line,
                     {
                         {"max", {"x"}},
                         {"add", {"y"}}
    }),
                HasSubstr("takes the max"));
  }
  EXPECT_EQ(says(both,
                 {
                     {"add", {"x", "y"}},
                     {"min", {"x"}     }
  }),
            "");
  EXPECT_THAT(says(both,
                   {
                       {"add", {"x"}},
                       {"max", {"y"}}
  }),
              HasSubstr("takes the max"));
  EXPECT_THAT(says(both,
                   {
                       {"add", {"x"}     },
                       {"max", {"x", "y"}}
  }),
              HasSubstr("takes the max"));
  const std::string in_parts = "einsum mk,kn->mn f32[4,8]+x f32[8,2]+x -> f32[4,2]";
  EXPECT_THAT(says(in_parts,
                   {
                       {"add", {"x"}},
                       {"max", {"x"}}
  }),
              HasSubstr("takes the max"))
      << "of the other operand";
  EXPECT_THAT(says(in_parts + "+x",
                   {
                       {"max", {"x"}}
  }),
              HasSubstr("takes the max"));
  EXPECT_THAT(says(one,
                   {
                       {"max", {"x"}},
                       {"add", {"x"}}
  }),
              HasSubstr("takes the max"))
      << "of the parts";
  EXPECT_THAT(says("reshard f32[8]+x -> f32[8] -> f32[8]+x",
                   {
                       {"max", {"x"}}
  }),
              HasSubstr("takes the max"));
  EXPECT_EQ(says(left,
                 {
                     {"add", {"x"}},
                     {"max", {"y"}}
  }),
            "")
      << "nothing is due along y, which other checks know";
  EXPECT_EQ(says(moved,
                 {
                     {"max", {"x"}}
  }),
            "")
      << "no sum is due anywhere";
}

TEST(Untrue, NobodySendsMoreThanThereIs) {
  const auto says = [](std::int64_t moved, std::int64_t times) {
    return why("on x=2: reshard f32[8@x] -> f32[8]", {
                                                         {.kind = "send", .moved = moved, .times = times}
    });
  };
  EXPECT_EQ(says(2 * 2 * 2 * 64, 1), "");
  EXPECT_THAT(says(2 * 2 * 2 * 64 + 1, 1), HasSubstr("more than all arrays have, from each device to each"));
  EXPECT_THAT(says(1'000'000'000'000'000, 1), HasSubstr("one send moved 1000000000000000 bytes"));
  EXPECT_EQ(says(1'000'000'000'000'000, std::int64_t{1} << 41), "") << "nobody knows what a loop sends again";
  EXPECT_EQ(says(-1, 1), "");
}

TEST(Untrue, AMaximumIsNoMinimum) {
  const std::string most = "on x=2: reshard f32[8]+max(x) -> f32[8]",
                    least = "on x=2: reshard f32[8]+min(x) -> f32[8]";
  for (const char* op : {"min", "minimum"})
    EXPECT_THAT(why(most, {reduce(op)}), HasSubstr("where the other extreme is due")) << op;
  for (const char* op : {"max", "maximum"})
    EXPECT_THAT(why(least, {reduce(op)}), HasSubstr("where the other extreme is due")) << op;
  EXPECT_EQ(why(most, {reduce("max")}), "");
  EXPECT_EQ(why(least, {reduce("minimum")}), "");
}

TEST(Untrue, AMeanDividesNoSum) {
  const auto says = [](const std::string& line, std::vector<std::string> axes) {
    Collective one = reduce("avg");
    one.axes = std::move(axes);
    return why("on x=3,y=2: reshard " + line, {one});
  };
  EXPECT_THAT(says("f32[8]+avg(x)+y -> f32[8]", {"x", "y"}), HasSubstr("where no mean is due"));
  EXPECT_THAT(says("f32[8]+avg(x)+y -> f32[8]", {"y"}), HasSubstr("where no mean is due"));
  EXPECT_EQ(says("f32[8]+avg(x)+y -> f32[8]+y", {"x"}), "");
  EXPECT_EQ(says("f32[8]+avg(x) -> f32[8]", {"x", "y"}), "") << "replicas have one mean";
  const auto with_one_rank = [](const char* line) {
    Collective one = reduce("avg");
    one.axes = {"w", "x"};
    return why(std::string("on w=1,x=3: reshard ") + line, {one});
  };
  EXPECT_EQ(with_one_rank("f32[8]+avg(x) -> f32[8]"), "");
  EXPECT_EQ(with_one_rank("f32[8]+avg(x)+w -> f32[8]"), "") << "a mean over one device divides by one";
}

TEST(Untrue, AScatterMakesNoMoreThanItHas) {
  const auto says = [](std::int64_t in, std::int64_t out) {
    return why("on x=4: reshard f32[8]+x -> f32[8@x]",
               {
                   {.kind = "reduce-scatter", .axes = {"x"}, .in = in, .out = out, .op = "add"}
    });
  };
  EXPECT_EQ(says(32, 8), "");
  EXPECT_THAT(says(16, 8), HasSubstr("one reduce-scatter over 4 devices makes 8 bytes of 16"));
}

TEST(Untrue, AnOuterProductHasNoSums) {
  Collective whole = reduce("add");  // of blocks among zeros: the operand, on each
  EXPECT_EQ(why("on x=2: einsum m,n->mn f32[8@x] f32[8] -> f32[8,8]", {whole}), "");
}

TEST(Untrue, MagnitudesAreTheLargest) {
  const std::string line = "on x=2: quantize fp8 bf16[64@x] -> f8e4m3[64@x] f32[]";
  Collective one{.kind = "all-reduce", .axes = {"x"}, .in = 4, .out = 4, .op = "max"};
  EXPECT_EQ(why(line, {one}), "");
  one.op = "min";
  EXPECT_THAT(why(line, {one}), HasSubstr("where largest magnitudes are due"));
}

TEST(Untrue, IntegersAddUpNoFloats) {
  const auto typed = [](const char* dtype) {
    Collective one = reduce("add");
    one.dtype = dtype;
    return one;
  };
  const std::string sum = "on x=2: reshard f32[8]+x -> f32[8]",
                    product = "on x=2: einsum mk,kn->mn f32[2,8@x] f32[8@x,4] -> f32[2,4]",
                    of_parts = "on x=2: einsum mk,kn->mn f32[2,4]+x f32[4,4] -> f32[2,4]";
  for (const std::string& line : {sum, product, of_parts}) {
    for (const char* dtype : {"s8", "s32", "u16", "s64", "pred"})
      EXPECT_THAT(why(line, {typed(dtype)}), HasSubstr("where values of f32 are due")) << line;
    for (const char* dtype : {"f32", "", "s", "sum", "a name of their own"})
      EXPECT_EQ(why(line, {typed(dtype)}), "") << line << dtype;
  }
  EXPECT_EQ(why(sum, {typed("f32"), typed("s32")}), "") << "beside a sum they are counted for another end";
  const Collective bytes{.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .dtype = "s8"};
  EXPECT_EQ(why(sum, {bytes, typed("s32")}), "") << "the bytes of floats, which are added up by each";
  EXPECT_EQ(why("on x=2: reshard f32[8@x] -> f32[8]", {bytes}), "");
  EXPECT_EQ(why("on x=2: reshard f32[8@x] -> f32[8@x]", {typed("s32")}), "") << "nobody's sum";
}

// The order of floats is that of their bits, of as many.
TEST(Untrue, IntegersOfFewerBitsCompareNoFloats) {
  const auto says = [](const char* dtype) {
    Collective one = reduce("max");
    one.dtype = dtype;
    return why("on x=2: reshard f32[8]+max(x) -> f32[8]", {one});
  };
  EXPECT_THAT(says("s8"), HasSubstr("it reduces s8, where values of f32 are due"));
  for (const char* dtype : {"s32", "f32", ""}) EXPECT_EQ(says(dtype), "") << dtype;
}

TEST(Untrue, AMeanIsTakenWhereOneIsDue) {
  for (const char* op : {"avg", "mean"}) {
    EXPECT_THAT(why("on x=2: reshard f32[8]+x -> f32[8]", {reduce(op)}), HasSubstr("where no mean is due"));
    EXPECT_THAT(why("on x=2: einsum mk,kn->mn f32[2,8@x] f32[8@x,4] -> f32[2,4]", {reduce(op)}),
                HasSubstr("where no mean is due"));
    EXPECT_EQ(why("on x=2: reshard f32[8]+avg(x) -> f32[8]", {reduce(op)}), "");
  }
  EXPECT_EQ(why("on x=2: reshard f32[8]+avg(x) -> f32[8]", {reduce("sum")}), "") << "divided afterwards";
}

TEST(Untrue, AnExtremeIsNoProduct) {
  const std::string most = "on x=2: reshard f32[8]+max(x) -> f32[8]",
                    scaled = "on x=2: quantize fp8 bf16[8@x,8] -> f8e4m3[8@x,8] f32[]";
  for (const std::string& line : {most, scaled}) {
    for (const char* op : {"mul", "xor"})
      EXPECT_THAT(why(line, {reduce(op)}), HasSubstr("where extremes or sums are due")) << line;
    for (const char* op : {"max", "maximum", ""}) EXPECT_EQ(why(line, {reduce(op)}), "") << line << op;
  }
}

TEST(Untrue, EveryElementInPartsIsSummed) {
  const auto says = [](std::int64_t bytes, const char* dtype, const char* kind = "all-reduce") {
    return why("on x=2: reshard f32[8]+x -> f32[8]",
               {
                   {.kind = kind, .axes = {"x"}, .in = bytes, .out = bytes, .op = "add", .dtype = dtype}
    });
  };
  EXPECT_EQ(says(32, "f32"), "");
  EXPECT_EQ(says(64, "f64"), "");
  EXPECT_THAT(says(32, "f64"), HasSubstr("4 of the 8 elements of device 0"));
  EXPECT_THAT(says(16, ""), HasSubstr("4 of the 8 elements of device 0"));
  EXPECT_EQ(why("on x=2: reshard f32[8]+x -> f32[8]",
                {
                    {.kind = "all-gather", .axes = {"x"}, .in = 32, .out = 64}
  }),
            "")
      << "each adds up what it was sent";
}

TEST(Untrue, IntegersAreAddedUpInWhatHoldsThem) {
  const auto says = [](const char* held, const char* dtype) {
    Collective one = reduce("add");
    one.dtype = dtype;
    one.in = one.out = 8 * format(*dtype_named(dtype)).bytes;
    return why(fmt::format("on x=2: reshard {0}[8]+x -> {0}[8]", held), {one});
  };
  for (const char* dtype : {"s8", "f32", "f16", "bf16", "f8e4m3"})
    EXPECT_THAT(says("s32", dtype), HasSubstr("does not hold the values of s32")) << dtype;
  for (const char* dtype : {"s32", "f64"}) EXPECT_EQ(says("s32", dtype), "") << dtype;
  for (const char* dtype : {"s8", "s32", "bf16", "f32"}) EXPECT_EQ(says("s8", dtype), "") << dtype;
  EXPECT_THAT(says("s8", "f8e4m3"), HasSubstr("does not hold"));
}

// in and out are those of the devices that have most.
TEST(Untrue, AnAllToAllGrowsAsUnevenBlocksDo) {
  const auto says = [](const std::string& arrays, std::int64_t in, std::int64_t out) {
    return why("on x=4: reshard " + arrays, {
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
  EXPECT_EQ(why("on x=4: reshard f32[8@x,4] -> f32[8,4@x]",
                {
                    {.kind = "all-to-all", .axes = {"x"}, .in = 48, .out = 32, .moved = 96}
  }),
            "")
      << "of what several have one sends more than another, and the bytes are counted";
}

// A gather makes n pieces one, of which the last may be shorter.
TEST(Untrue, PiecesMakeAWhole) {
  const auto says = [](const char* kind, const std::string& arrays, std::int64_t in, std::int64_t out) {
    return why("on x=4: reshard " + arrays, {
                                                {.kind = kind, .axes = {"x"}, .in = in, .out = out}
    });
  };
  EXPECT_EQ(says("all-gather", "f32[8@x] -> f32[8]", 8, 32), "");
  EXPECT_THAT(says("all-gather", "f32[8@x] -> f32[8]", 9, 32), HasSubstr("one all-gather over 4 devices"));
  EXPECT_EQ(says("all-gather", "f32[5@x] -> f32[5]", 8, 20), "") << "2, 2, 1, 0";
  EXPECT_EQ(says("all-gather", "f32[5@x] -> f32[5]", 8, 32), "") << "padded";
  EXPECT_THAT(says("all-gather", "f32[5@x] -> f32[5]", 12, 20), HasSubstr("one all-gather"));
  EXPECT_EQ(says("all-gather", "f32[5]+x -> f32[5]", 12, 20), "") << "of sums that lie as they like";
  EXPECT_EQ(why("on x=4: reshard f32[8@x] -> f32[8]",
                {
                    {.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .moved = 96}
  }),
            "")
      << "two have a half each, and the bytes are counted";
}

// The bound is one of the definition: of every way to cut small arrays into as many pieces, before and after.
TEST(Untrue, BlocksOfEveryLayoutAreWithinTheBound) {
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
            ASSERT_EQ(why(line,
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

TEST(Untrue, AProductOfManyRanksNeedsSums) {
  EXPECT_THAT(why("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]", {}),
              HasSubstr("0 of the 16 elements"));
  EXPECT_EQ(why("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]",
                {
                    {.kind = "all-reduce", .axes = {"x"}, .in = 64, .out = 64}
  }),
            "");
}

TEST(Untrue, AProductThatAddsNothingIsZeroAnywhere) {
  EXPECT_EQ(why("on x=2: einsum mk,kn->mn f32[4@x,0] f32[0,4] -> f32[4,4]", {}), "");
  EXPECT_EQ(why("on x=2: einsum g,ag->a f32[0] f32[8@x,0] -> f32[8]", {}), "");
}

TEST(Untrue, IntegersThatHoldNoValueCountSomethingElse) {
  const auto left = [](const std::string& line, const std::string& dtype) {
    Collective one = reduce("add");
    one.dtype = dtype;
    return without_counters(parse_case("on x=2: " + line), {one}).size();
  };
  for (const char* dtype : {"s8", "u8"}) EXPECT_EQ(left("reshard f32[8]+x -> f32[8]", dtype), 0u) << dtype;
  for (const char* dtype : {"s32", "f32", "bf16", "", "their own"})
    EXPECT_EQ(left("reshard f32[8]+x -> f32[8]", dtype), 1u) << dtype;
  EXPECT_EQ(left("reshard f8e4m3[8]+x -> f8e4m3[8]", "s8"), 1u)
      << "a value of 8 bits may be compared as an integer";
  EXPECT_EQ(left("reshard s32[8]+x -> s32[8]", "s8"), 1u) << "too_narrow says so";
  EXPECT_EQ(left("quantize fp8 bf16[8@x] -> f8e4m3[8@x] f32[]", "s8"), 1u);
  const Collective gather{.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .dtype = "u8"};
  EXPECT_EQ(without_counters(parse_case("on x=2: reshard f32[8@x] -> f32[8]"), {gather}).size(), 1u)
      << "bytes may be moved";
}

}  // namespace
}  // namespace plumb
