#include "harness/trace/untrue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/protocol/vocabulary.h"
#include "harness/trace/narrow.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

std::string why_untrue(const std::string& line, const Trace& trace) { return untrue(parse_case(line), trace, true); }

Collective reduce(const std::string& op) {
  return {.kind = "all-reduce", .axes = {"x"}, .in = 32, .out = 32, .op = op};
}

TEST(Untrue, ASumIsTakenBySumsAndByNothingElse) {
  const std::string sum = "on x=2: reshard f32[8]+x -> f32[8]";
  for (const char* op : {"", "add", "sum", "a name of their own"})
    EXPECT_EQ(why_untrue(sum, {reduce(op)}), "") << op;
  for (const char* op : {"mul", "prod", "xor", "and", "band"})
    EXPECT_THAT(why_untrue(sum, {reduce(op)}), HasSubstr("where sums are due")) << op;
  EXPECT_THAT(why_untrue(sum, {reduce("max")}), HasSubstr("it takes the max, where sums are due"));
  EXPECT_EQ(why_untrue(sum, {reduce("add"), reduce("or")}), "") << "beside a sum it may be of something else";
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
    return why_untrue("on x=2,y=2: " + line, trace);
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

TEST(Untrue, ASendThatSaysHowItCombinesCombinesAsIsDue) {
  const auto says = [](const char* op) {
    return why_untrue("on x=2: reshard f32[8]+x -> f32[8]",
               {
                   {.kind = "send", .axes = {"x"}, .in = 32, .out = 32, .op = op}
    });
  };
  EXPECT_EQ(says("add"), "");
  EXPECT_EQ(says(""), "");
  EXPECT_THAT(says("mul"), HasSubstr("it takes the mul, where sums are due"));
  EXPECT_THAT(says("max"), HasSubstr("it takes the max, where sums are due"));
}

TEST(Untrue, AMaximumIsTheMinimumOfTheNegated) {
  for (const char* due : {"max", "min"})
    for (const char* op : {"min", "minimum", "max", "maximum"}) {
      EXPECT_EQ(why_untrue(fmt::format("on x=2: reshard f32[8]+{}(x) -> f32[8]", due), {reduce(op)}), "") << op;
      EXPECT_EQ(why_untrue("on x=2: quantize fp8 bf16[64@x] -> f8e4m3[64@x] f32[]", {reduce(op)}), "") << op;
    }
}

TEST(Untrue, ASumIsNoExtreme) {
  const std::string most = "on x=2: reshard f32[8]+max(x) -> f32[8]",
                    least = "on x=2: reshard f32[8]+min(x) -> f32[8]";
  for (const char* op : {"add", "sum"}) {
    EXPECT_EQ(why_untrue(most, {reduce(op)}), "it adds up, where the max is due") << op;
    EXPECT_EQ(why_untrue(least, {reduce(op)}), "it adds up, where the min is due") << op;
    EXPECT_EQ(why_untrue(most, {reduce(op), reduce("max")}), "") << op;
    EXPECT_EQ(why_untrue("on x=2,y=2: reshard f32[8]+max(x) -> f32[8]+y -> f32[8]", {reduce(op)}), "") << op;
  }
  EXPECT_EQ(why_untrue(most, {reduce("")}), "") << "nobody knows what it does";
}

TEST(Untrue, AMeanDividesNoSum) {
  const auto says = [](const std::string& line, std::vector<std::string> axes) {
    Collective one = reduce("avg");
    one.axes = std::move(axes);
    return why_untrue("on x=3,y=2: reshard " + line, {one});
  };
  EXPECT_THAT(says("f32[8]+avg(x)+y -> f32[8]", {"x", "y"}), HasSubstr("where no mean is due"));
  EXPECT_THAT(says("f32[8]+avg(x)+y -> f32[8]", {"y"}), HasSubstr("where no mean is due"));
  EXPECT_EQ(says("f32[8]+avg(x)+y -> f32[8]+y", {"x"}), "");
  EXPECT_EQ(says("f32[8]+avg(x) -> f32[8]", {"x", "y"}), "") << "replicas have one mean";
  const auto with_one_rank = [](const char* line) {
    Collective one = reduce("avg");
    one.axes = {"w", "x"};
    return why_untrue(std::string("on w=1,x=3: reshard ") + line, {one});
  };
  EXPECT_EQ(with_one_rank("f32[8]+avg(x) -> f32[8]"), "");
  EXPECT_EQ(with_one_rank("f32[8]+avg(x)+w -> f32[8]"), "") << "a mean over one device divides by one";
}

TEST(Untrue, AnOuterProductHasNoSums) {
  Collective whole = reduce("add");  // of blocks among zeros: the operand, on each
  EXPECT_EQ(why_untrue("on x=2: einsum m,n->mn f32[8@x] f32[8] -> f32[8,8]", {whole}), "");
}

// Of a product a largest magnitude is no sum: one that nothing but extremes came to has none.
TEST(Untrue, ALargestMagnitudeIsNoSum) {
  const auto op = [](const char* name) {
    Collective one = reduce(name);
    one.in = one.out = 256;
    return one;
  };
  const Collective gather{.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32};
  for (const char* scheme : {"mxfp8", "fp8"}) {
    const std::string product =
        fmt::format("on x=2: einsum mk,kn->mn bf16[8,64@x]~{0} bf16[64@x,8]~{0} -> f32[8,8]", scheme);
    EXPECT_THAT(why_untrue(product, {op("max")}), HasSubstr("it takes the max, where sums are due")) << scheme;
    EXPECT_EQ(why_untrue(product, {op("max"), op("max"), op("add")}), "") << scheme;
    EXPECT_EQ(why_untrue(product, {op("max"), gather}), "") << scheme;
  }
  for (const char* line : {
           "on x=2: einsum mk,kn->mn bf16[8@x,64]~fp8 bf16[64,8]~fp8 -> f32[8@x,8]",
           "on x=2: einsum mk,kn->mn bf16[8,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[8,8]+x",
           "on x=2: einsum mk,kn->mn bf16[0,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[0,8]",
       })
    EXPECT_EQ(why_untrue(line, {op("max")}), "") << line << ": no sum over devices is due";
}

// Of others it is not known what they multiply by.
TEST(Untrue, OneSumMakesNoProductOfTwoInParts) {
  const auto adds = [](std::int64_t bytes) {
    Collective one = reduce("add");
    one.in = one.out = bytes;
    return one;
  };
  const std::string crossed = "on x=2: einsum mk,kn->mn f32[4,4]+x f32[4,4]+x -> f32[4,4]";
  EXPECT_THAT(why_untrue(crossed, {adds(64)}), HasSubstr("adds up 16 values, and parts of 32 factors"));
  EXPECT_EQ(why_untrue(crossed, {adds(64), adds(64)}), "");
  EXPECT_EQ(why_untrue(crossed, {adds(128)}), "") << "both operands in one";
  EXPECT_EQ(why_untrue("on x=2: einsum mk,kn->mn f32[4,4]+x f32[4,4] -> f32[4,4]", {adds(64)}), "");
}

TEST(Untrue, IntegersAddUpNoFloats) {
  const auto typed = [](const char* dtype) {
    Collective one = reduce("add");
    one.dtype = dtype;
    return one;
  };
  const std::string sum = "on x=2: reshard f32[8]+x -> f32[8]",
                    product = "on x=2: einsum mk,kn->mn f32[2,8@x] f32[8@x,4] -> f32[2,4]",
                    of_parts = "on x=2: einsum mk,kn->mn f32[2,4]+x f32[4,4] -> f32[2,4]",
                    of_rows = "on x=2: grouped wgrad f32[8@x,2] f32[8@x,2] sizes=3,5 -> f32[2,2,2]";
  for (const std::string& line : {sum, product, of_parts, of_rows}) {
    for (const char* dtype : {"s8", "s32", "u16", "s64", "pred"})
      EXPECT_THAT(why_untrue(line, {typed(dtype)}), HasSubstr("where values of f32 are due")) << line;
    for (const char* dtype : {"f32", "", "s", "sum", "a name of their own"})
      EXPECT_EQ(why_untrue(line, {typed(dtype)}), "") << line << dtype;
  }
  EXPECT_EQ(why_untrue(sum, {typed("f32"), typed("s32")}), "") << "beside a sum they are counted for another end";
  EXPECT_EQ(why_untrue("on x=2: grouped wgrad f32[8@x,2] f32[8@x,2] sizes=4,4 -> f32[2@x,2,2]", {typed("s32")}), "")
      << "each has all rows of its group";
  const Collective bytes{.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .dtype = "s8"};
  EXPECT_EQ(why_untrue(sum, {bytes, typed("s32")}), "") << "the bytes of floats, which are added up by each";
  EXPECT_EQ(why_untrue("on x=2: reshard f32[8@x] -> f32[8]", {bytes}), "");
  EXPECT_EQ(why_untrue("on x=2: reshard f32[8@x] -> f32[8@x]", {typed("s32")}), "") << "nobody's sum";
}

// The order of floats is that of their bits, of as many.
TEST(Untrue, IntegersOfFewerBitsCompareNoFloats) {
  const auto says = [](const char* dtype) {
    Collective one = reduce("max");
    one.dtype = dtype;
    return why_untrue("on x=2: reshard f32[8]+max(x) -> f32[8]", {one});
  };
  EXPECT_THAT(says("s8"), HasSubstr("it reduces s8, where values of f32 are due"));
  for (const char* dtype : {"s32", "f32", ""}) EXPECT_EQ(says(dtype), "") << dtype;
}

TEST(Untrue, AMeanIsTakenWhereOneIsDue) {
  for (const char* op : {"avg", "mean"}) {
    EXPECT_THAT(why_untrue("on x=2: reshard f32[8]+x -> f32[8]", {reduce(op)}), HasSubstr("where no mean is due"));
    EXPECT_THAT(why_untrue("on x=2: einsum mk,kn->mn f32[2,8@x] f32[8@x,4] -> f32[2,4]", {reduce(op)}),
                HasSubstr("where no mean is due"));
    EXPECT_EQ(why_untrue("on x=2: reshard f32[8]+avg(x) -> f32[8]", {reduce(op)}), "");
  }
  EXPECT_EQ(why_untrue("on x=2: reshard f32[8]+avg(x) -> f32[8]", {reduce("sum")}), "") << "divided afterwards";
}

TEST(Untrue, AnExtremeIsNoProduct) {
  const std::string most = "on x=2: reshard f32[8]+max(x) -> f32[8]",
                    scaled = "on x=2: quantize fp8 bf16[8@x,8] -> f8e4m3[8@x,8] f32[]";
  for (const std::string& line : {most, scaled}) {
    for (const char* op : {"mul", "prod"})
      EXPECT_THAT(why_untrue(line, {reduce(op)}), HasSubstr("where extremes or sums are due")) << line;
    for (const char* op : {"max", "maximum", ""}) EXPECT_EQ(why_untrue(line, {reduce(op)}), "") << line << op;
  }
}

TEST(Untrue, EveryElementInPartsIsSummed) {
  const auto says = [](std::int64_t bytes, const char* dtype, const char* kind = "all-reduce") {
    return why_untrue("on x=2: reshard f32[8]+x -> f32[8]",
               {
                   {.kind = kind, .axes = {"x"}, .in = bytes, .out = bytes, .op = "add", .dtype = dtype}
    });
  };
  EXPECT_EQ(says(32, "f32"), "");
  EXPECT_EQ(says(64, "f64"), "");
  EXPECT_THAT(says(32, "f64"), HasSubstr("4 of the 8 elements of device 0"));
  EXPECT_THAT(says(16, ""), HasSubstr("4 of the 8 elements of device 0"));
  EXPECT_EQ(why_untrue("on x=2: reshard f32[8]+x -> f32[8]",
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
    return why_untrue(fmt::format("on x=2: reshard {0}[8]+x -> {0}[8]", held), {one});
  };
  for (const char* dtype : {"s8", "f32", "f16", "bf16", "f8e4m3"})
    EXPECT_THAT(says("s32", dtype), HasSubstr("does not hold the values of s32")) << dtype;
  for (const char* dtype : {"s32", "f64"}) EXPECT_EQ(says("s32", dtype), "") << dtype;
  for (const char* dtype : {"s8", "s32", "bf16", "f32"}) EXPECT_EQ(says("s8", dtype), "") << dtype;
  EXPECT_THAT(says("s8", "f8e4m3"), HasSubstr("does not hold"));
}

TEST(Untrue, AProductOfManyRanksNeedsSums) {
  EXPECT_THAT(why_untrue("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]", {}),
              HasSubstr("0 of the 16 elements"));
  EXPECT_EQ(why_untrue("on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]",
                {
                    {.kind = "all-reduce", .axes = {"x"}, .in = 64, .out = 64}
  }),
            "");
}

TEST(Untrue, AProductThatAddsNothingIsZeroAnywhere) {
  EXPECT_EQ(why_untrue("on x=2: einsum mk,kn->mn f32[4@x,0] f32[0,4] -> f32[4,4]", {}), "");
  EXPECT_EQ(why_untrue("on x=2: einsum g,ag->a f32[0] f32[8@x,0] -> f32[8]", {}), "");
}

// Law: of what moves a type brings values that has their bits, and s8 and u8 bring the bytes of any. Of a line's
// floats too_narrow() says which hold them.
TEST(Untrue, ATypeOfFewerBitsMovesNoValue) {
  const int truth = 1;
  for (const auto& [name, bits] : std::vector<std::pair<const char*, int>>{
           {"pred",     truth},
           {"s2",       2    },
           {"u2",       2    },
           {"s4",       4    },
           {"u4",       4    },
           {"f4e2m1fn", 4    },
           {"s16",      16   },
           {"u16",      16   },
           {"s32",      32   },
           {"u32",      32   },
           {"s64",      64   },
           {"u64",      64   },
           {"c64",      64   },
           {"c128",     128  }
  })
    for (const char* held : {"s8", "f8e4m3", "bf16", "f16", "s32", "f32", "f64"})
      for (const char* kind : {"all-gather", "all-to-all", "collective-permute", "collective-broadcast", "send"}) {
        const Case c = parse_case(fmt::format("on x=2: reshard {0}[8@x] -> {0}[8]", held));
        const Trace one{
            {.kind = kind, .axes = {"x"}, .in = 16, .out = 32, .dtype = name}
        };
        EXPECT_EQ(without_idle_moves(c, one).size(), bits >= bits_of(held) ? 1u : 0u) << held << kind << name;
      }
  for (const char* held : {"f8e4m3", "f32", "f64", "s32"})
    for (const char* type : {"s8", "u8", "f32", "bf16", "f8e4m3", "", held}) {
      const Case c = parse_case(fmt::format("on x=2: reshard {0}[8@x] -> {0}[8]", held));
      const Trace one{
          {.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .dtype = type}
      };
      EXPECT_EQ(without_idle_moves(c, one).size(), 1u) << held << type;
    }
  const Collective half{.kind = "all-gather", .axes = {"x"}, .in = 16, .out = 32, .dtype = "u16"};
  for (const char* line : {"einsum mk,kn->mn bf16[8@x,8] f32[8,8] -> f32[8,8]", "reshard f32[8]+x -> f32[8] wire=bf16",
                           "quantize mxfp8 f32[8@x,32] -> f8e4m3[8,32] e8m0[8,1]"})
    EXPECT_EQ(without_idle_moves(parse_case("on x=2: " + std::string(line)), {half}).size(), 1u) << line;
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
