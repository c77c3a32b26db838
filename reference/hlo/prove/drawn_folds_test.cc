// Law: of drawn programs whose constants a compiler computed is said what was said: what each constant stands
// for, which constants a program has, and what needs no parameter. golden/folds.txt has a digest for each
// block of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reference/hlo/module/module.h"
#include "reference/hlo/prove/folded.h"
#include "reference/hlo/prove/twin.h"
#include "reference/words/testing/pins.h"

namespace plumb::hlo {
namespace {

struct Draw {
  std::mt19937_64 bits;
  std::size_t below(std::size_t n) { return bits() % n; }
  template <typename T>
  T of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
};

struct Constant {
  std::string type;
  double value;
};

Type type_of(const std::string& name) {
  return name == "f32" ? Type::f32 : name == "bf16" ? Type::bf16 : name == "f16" ? Type::f16 : Type::f64;
}

double drawn_number(Draw& draw) {
  const std::vector<double> usual{1,   2,        3,           5,        7, 56, 1024, 0.1,
                                  0.5, 0.044715, 0.797884583, 0.000002, 0, -4, -0.3};
  if (draw.below(2)) return draw.of(usual);
  return std::ldexp(static_cast<double>(draw.below(2000)) - 1000, static_cast<int>(draw.below(12)) - 8);
}

double combined(Draw& draw, double a, double b) {
  switch (draw.below(4)) {
    case 0:
      return a * b;
    case 1:
      return a / b;
    case 2:
      return a + b;
    default:
      return a - b;
  }
}

// What rounds to a constant: of one to three of those there are, rounded at each step or once; or its
// neighbour, or another altogether.
double computed_of(Draw& draw, const std::vector<Constant>& all, Type type) {
  double x = draw.of(all).value;
  const bool stepwise = draw.below(2);
  const std::size_t more = draw.below(3);
  if (more == 0 && draw.below(2)) x = 1 / x;
  for (std::size_t i = 0; i < more; ++i) {
    const double other = draw.of(all).value;
    x = draw.below(2) ? combined(draw, x, other) : combined(draw, other, x);
    if (stepwise) x = rounded(x, type);
  }
  x = rounded(x, type);
  if (draw.below(4) == 0) x = -x;
  if (draw.below(6) == 0) x = rounded(x * (1 + 0x1p-22), type);
  return x;
}

std::string number(double x) {
  return std::isnan(x) ? "nan" : std::isinf(x) ? x < 0 ? "-inf" : "inf" : fmt::format("{:.17g}", x);
}

// A module of these constants: scalars, and all of a type in one array; roots and sums of some, which need no
// parameter, and of one that does.
std::string program(Draw& draw, const std::vector<Constant>& all) {
  std::string text = "HloModule m\n\nENTRY %e {\n  %x = f32[] parameter(0)\n  %n = s32[] constant(" +
                     std::to_string(draw.below(9)) + ")\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    text += fmt::format("  %c{0} = {1}[] constant({2})\n  %q{0} = {1}[] sqrt(%c{0})\n", i, all[i].type,
                        number(all[i].value));
  std::vector<std::string> row;
  for (std::size_t n = draw.below(3) ? draw.below(20) : 60 + draw.below(9); n > 0; --n)
    row.push_back(number(rounded(drawn_number(draw) * static_cast<double>(n), Type::f32)));
  text += fmt::format("  %a = f32[{}] constant({{{}}})\n", row.size(), fmt::join(row, ", "));
  text += "  %s = f32[] convert(%c0)\n  %t = f32[] multiply(%s, %s)\n  %u = f32[] add(%t, %x)\n";
  return text + "  ROOT %r = f32[] multiply(%u, %s)\n}\n";
}

std::string said_of(Draw& draw) {
  std::vector<Constant> own, others;
  for (std::size_t n = 1 + draw.below(draw.below(8) ? 5 : 120); n > 0; --n) {
    const std::string type = draw.of(std::vector<std::string>{"f32", "f32", "bf16", "f16", "f64"});
    own.push_back({type, rounded(drawn_number(draw), type_of(type))});
  }
  for (std::size_t n = 1 + draw.below(6); n > 0; --n) {
    const std::string type = draw.of(std::vector<std::string>{"f32", "f32", "bf16", "f16", "f64"});
    others.push_back({type, computed_of(draw, own, type_of(type))});
  }
  if (draw.below(2)) others.insert(others.end(), own.begin(), own.end());
  const Module before = parse(program(draw, own), "before"), after = parse(program(draw, others), "after");
  const std::vector<Source> sources = constants_of(before);
  std::string text;
  for (const Source& s : sources) text += fmt::format("{} is {:.17g}; ", s.text, s.is.real);
  for (const Folded& folded : folded_constants(before, after, sources, 5)) {
    text += fmt::format("\n{:.17g} {}:", folded.value, decimal(folded.value));
    for (const Source& s : folded.meanings)
      text += fmt::format(" {} = {:.12g} {:x};", s.text, s.is.real, s.is.coefficient.value);
  }
  std::vector<std::string> free;
  for (const Instruction* i : free_of_parameters(before)) free.push_back(i->name);
  std::ranges::sort(free);
  return text + fmt::format("\nfree {}\n", fmt::join(free, " "));
}

TEST(Folds, AreWhatTheyWere) {
  constexpr int each = 25;
  expect_pinned(PLUMB_GOLDEN "/folds.txt", numbered(16), [](const std::string& block) {
    Draw draw{std::mt19937_64(std::stoul(block))};
    std::string text;
    for (int i = 0; i < each; ++i) text += said_of(draw);
    return text;
  });
}

}  // namespace
}  // namespace plumb::hlo
