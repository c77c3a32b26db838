// Comparisons of floats by their bits, as XLA's comparison expander writes them.
#include "reference/hlo/module/total_order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

constexpr const char* kByBits = R"(HloModule m

%greater (x: f32[], y: f32[], i: s32[], j: s32[]) -> pred[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  %i = s32[] parameter(2)
  %j = s32[] parameter(3)
  %zero = s32[] constant(0)
  %zeros = s32[] broadcast(%zero), dimensions={}
  %largest = s32[] constant(2147483647)
  %a = s32[] bitcast-convert(%x)
  %below = pred[] compare(%a, %zeros), direction=LT
  %reversed = s32[] xor(%largest, %a)
  %p = s32[] select(%below, %reversed, %a)
  %b = s32[] bitcast-convert(%y)
  %less = pred[] compare(%b, %zero), direction=LT
  %backwards = s32[] xor(%b, %largest)
  %q = s32[] select(%less, %backwards, %b)
  ROOT %c = pred[] compare(%p, %q), direction=GT, type=SIGNED
}

ENTRY %e {
  %x = f32[9] parameter(0)
  ROOT %t = (f32[4], s32[4]) custom-call(%x), custom_call_target="TopK", called_computations={%greater}
}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kByBits;
  EXPECT_NE(text.find(from), text.npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

std::string line(const Module& module, const std::string& name) {
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (i.name == name) return print(module, c, i);
  return "";
}

TEST(TotalOrder, IsThatOfTheFloats) {
  const Module module = with_floats_compared(parse(kByBits, "m.txt"));
  EXPECT_EQ(line(module, "c"), "%c = pred[] compare(%x, %y), direction=GT, type=TOTALORDER");
  EXPECT_EQ(line(module, "a"), "%a = s32[] constant(0)");
  EXPECT_EQ(line(module, "b"), "%b = s32[] constant(0)");
  EXPECT_EQ(line(module, "t"), "%t = (f32[4], s32[4]) topk(%x), k=4, largest=true");
}

// Every pair of numbers, zeros of both signs, infinities and NaN among them: the bits, which plain doubles
// know, say the same.
TEST(TotalOrder, IsThatOfTheBits) {
  const std::vector<double> all = {-HUGE_VAL, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1, 2.5, HUGE_VAL, std::nan("")};
  for (const char* direction : {"GT", "LT", "GE", "LE", "EQ", "NE"}) {
    const Module by_bits = parse(with("direction=GT", "direction=" + std::string(direction)), "m.txt"),
                 by_floats = with_floats_compared(by_bits);
    const auto answer = [&](const Module& module, double x, double y) {
      Reals reals;
      const auto scalar = [](double r) { return value(Array<double>{Type::f32, {}, 1, {}, {r}}); };
      const auto number = value(Array<double>{Type::s32, {}, 1, {0}, {}});
      return evaluate(Machine<Reals>{module, reals, 1}, module.computations[0],
                      {scalar(x), scalar(y), number, number}, {})
          .array->integers[0];
    };
    for (const double x : all)
      for (const double y : all)
        EXPECT_EQ(answer(by_bits, x, y), answer(by_floats, x, y)) << x << " " << direction << " " << y;
  }
}

TEST(TotalOrder, ABitcastIsOfTheSameBits) {
  const Module module =
      with_floats_compared(parse(with("%a = s32[] bitcast-convert(%x)", "%a = s32[] bitcast(%x)"), "m.txt"));
  EXPECT_EQ(line(module, "c"), "%c = pred[] compare(%x, %y), direction=GT, type=TOTALORDER");
  EXPECT_EQ(line(module, "a"), "%a = s32[] constant(0)");
}

// Other integers stay what they are, and so do bits that something else reads.
TEST(TotalOrder, OfOthersNothingIsChanged) {
  const std::pair<const char*, const char*> table[] = {
      {"s32[] constant(2147483647)",                        "s32[] constant(2147483646)"              },
      {"s32[] constant(0)",                                 "s32[] constant(1)"                       },
      {"%below = pred[] compare(%a, %zeros), direction=LT",
       "%below = pred[] compare(%a, %zeros), direction=LE"                                            },
      {"%reversed = s32[] xor(%largest, %a)",               "%reversed = s32[] and(%largest, %a)"     },
      {"%reversed = s32[] xor(%largest, %a)",               "%reversed = s32[] xor(%largest, %i)"     },
      {"%p = s32[] select(%below, %reversed, %a)",          "%p = s32[] select(%below, %reversed, %i)"},
      {"%a = s32[] bitcast-convert(%x)",                    "%a = s32[] convert(%x)"                  },
  };
  for (const auto& [from, to] : table) {
    const Module module = parse(with(from, to), "m.txt");
    EXPECT_EQ(print(with_floats_compared(module)), print(module)) << to;
  }
  const Module read = with_floats_compared(
      parse(with("ROOT %c = pred[] compare(%p, %q), direction=GT, type=SIGNED",
                 "%c = pred[] compare(%p, %q), direction=GT\n  %d = pred[] compare(%a, %i), direction=LT\n  "
                 "ROOT %e = pred[] and(%c, %d)"),
            "m.txt"));
  EXPECT_EQ(line(read, "a"), "%a = s32[] bitcast-convert(%x)");
  EXPECT_EQ(line(read, "b"), "%b = s32[] constant(0)");
  EXPECT_EQ(line(read, "t").find("topk"), std::string::npos) << "who knows which are the first";
}

TEST(TotalOrder, TheLeastAreAsked) {
  const auto said = [](const char* direction) {
    return line(
        with_floats_compared(parse(with("direction=GT", "direction=" + std::string(direction)), "m.txt")),
        "t");
  };
  EXPECT_EQ(said("LT"), "%t = (f32[4], s32[4]) topk(%x), k=4, largest=false");
  EXPECT_EQ(said("EQ").find("topk"), std::string::npos);
}

}  // namespace
}  // namespace plumb::hlo
