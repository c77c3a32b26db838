// The data of means, maxima and minima must be able to fail.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "reference/fill/fill.h"
#include "reference/fill/unit.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Parts = std::vector<double>;  // of one element

std::vector<Parts> parts_of(const Case& c) {
  const Tensor all = fill(c, 0);
  const std::int64_t n = elements(c.op.operands[0]), count = parts(c.mesh, c.op.operands[0]);
  std::vector<Parts> found(n);
  for (std::int64_t i = 0; i < n * count; ++i) found[i % n].push_back(value(all, i));
  return found;
}

double largest(const Parts& parts) { return *std::ranges::max_element(parts); }
double smallest(const Parts& parts) { return *std::ranges::min_element(parts); }
double sum(const Parts& parts) {
  double all = 0;
  for (double part : parts) all += part;
  return all;
}
Parts without(Parts parts, std::size_t p) {
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(p));
  return parts;
}

// The share of elements on which two ways to reduce differ.
using Way = std::function<double(const Parts&)>;
double differ(const std::vector<Parts>& all, const Way& right, const Way& wrong) {
  const auto n = std::ranges::count_if(all, [&](const Parts& parts) { return right(parts) != wrong(parts); });
  return static_cast<double>(n) / static_cast<double>(all.size());
}

TEST(Contest, EveryPartWinsSomewhereAndAlone) {
  for (const char* dtype : {"f8e5m2", "f8e4m3", "bf16", "f16", "f32", "f64", "s8", "s32"})
    for (const char* kind : {"max", "min"}) {
      const std::string d = dtype;
      const Case c = parse_case("on x=4,y=2: reshard " + d + "[64]+" + kind + "(x.y) -> " + d + "[64]");
      const bool max = c.op.operands[0].reduction == Reduce::max;
      const Way right = max ? largest : smallest;
      const std::vector<Parts> all = parts_of(c);
      std::vector<int> wins(8);
      int negative = 0;
      for (const Parts& parts : all) {
        EXPECT_EQ(std::ranges::count(parts, right(parts)), 1);
        EXPECT_EQ(std::ranges::count(parts, 0.0), 0);
        ++wins[std::ranges::find(parts, right(parts)) - parts.begin()];
        negative += right(parts) < 0;
        for (double part : parts) EXPECT_LE(std::fabs(part), capacity(c.op.operands[0].dtype));
      }
      for (int n : wins) EXPECT_EQ(n, 8) << print(c);  // 64 elements, 8 parts
      EXPECT_GT(negative, 10) << "a zero that is no part would lose";
      EXPECT_GT(64 - negative, 10);
      for (std::size_t p = 0; p < 8; ++p) {
        EXPECT_EQ(differ(all, right, [&](const Parts& parts) { return right(without(parts, p)); }), 8.0 / 64);
        EXPECT_EQ(differ(all, right, [&](const Parts& parts) { return parts[p]; }), 56.0 / 64) << "one part";
      }
      EXPECT_EQ(differ(all, right, max ? smallest : largest), 1);
      EXPECT_GT(differ(all, right, sum), 0.8) << print(c);
      EXPECT_EQ(certificate(c).scope, Certificate::Scope::any_split);
    }
}

// A multiple of 81 is 81 or its negative, of 127 there is none below -127. To the wrong side loses any number
// there is past it.
TEST(Contest, IntegersOfOneMagnitudeWinOnBothSidesOfZero) {
  for (int n : {64, 81, 120, 126, 127})
    for (const char* kind : {"max", "min"}) {
      const Case c =
          parse_case(fmt::format("on x={0}: reshard s8[{0}]+{1}(x) -> s8[{0}] -> s8[{0}]+x", n, kind));
      const bool max = c.op.operands[0].reduction == Reduce::max;
      const double sign = max ? 1 : -1, wrong = n == 127 ? 0 : -n;
      std::set<double> wins, losers;
      std::set<std::ptrdiff_t> winners;
      for (const Parts& parts : parts_of(c)) {
        const double top = max ? largest(parts) : smallest(parts);
        EXPECT_EQ(std::ranges::count(parts, top), 1) << print(c);
        wins.insert(sign * top), winners.insert(std::ranges::find(parts, top) - parts.begin());
        for (double part : parts) {
          EXPECT_LE(std::fabs(part), capacity(DType::s8));
          if (sign * part < wrong && sign * top == wrong) losers.insert(part);
        }
      }
      EXPECT_EQ(wins, (std::set<double>{wrong, 1. * n})) << print(c);
      EXPECT_EQ(std::ssize(losers), capacity(DType::s8) + wrong) << print(c);
      EXPECT_EQ(std::ssize(winners), n) << print(c);
    }
}

// A part that is sent or compared in a narrower format stays what it is.
TEST(Contest, EveryPartIsExactInEveryFormatOfTheLine) {
  for (const char* line : {
           "on x=4: reshard f32[64]+max(x) -> f32[64] wire=bf16",
           "on x=4: reshard f32[64]+min(x) -> f32[64] wire=f8e4m3",
           "on x=4: reshard f32[64]+max(x) -> f32[64] acc=f16",
           "on x=4: reshard f64[64]+max(x) -> f64[64] acc=f64 wire=f32",
           "on x=4: reshard bf16[64]+max(x) -> bf16[64] acc=f64 wire=f64",
           "on x=4: reshard s32[64]+max(x) -> s32[64] wire=s8",
           "on x=9,y=2: reshard f32[64]+max(y) -> f32[64]+max(x.y) wire=f8e4m3",
       }) {
    const Case c = parse_case(line);
    for (const Parts& parts : parts_of(c))
      for (double part : parts)
        for (DType dtype : {c.acc, c.wire, result(c).dtype}) {
          EXPECT_EQ(decode(dtype, encode(dtype, part)), part) << line;
          EXPECT_LE(std::fabs(part), capacity(dtype) * unit(c).factor) << line;
        }
    EXPECT_EQ(certificate(c).scope, Certificate::Scope::any_split) << line;
  }
  // Multiples of 9 or 257, where a format counts to 8 or 256.
  for (const char* line : {"on x=9,y=2: reshard f32[64]+max(y) -> f32[64]+max(x.y) wire=f8e5m2",
                           "on x=257,y=2: reshard f32[64]+max(y) -> f32[64]+max(x.y) acc=bf16",
                           "on x=9,y=2: reshard f8e5m2[64]+max(y) -> f8e5m2[64]+max(x.y) acc=f32 wire=f32"})
    EXPECT_EQ(certificate(parse_case(line)).scope, Certificate::Scope::none) << line;
}

TEST(Mean, PartsAndSumsAreMultiplesOfTheNumberOfParts) {
  for (const char* line :
       {"on x=3: reshard f32[64]+avg(x) -> f32[64]", "on x=3,y=2: reshard bf16[64]+avg(x)+y -> bf16[64@y]",
        "on x=5,y=2: reshard f16[64]+avg(x.y) -> f16[64]", "on x=4: reshard f8e4m3[64]+avg(x) -> f8e4m3[64]",
        "on x=3,y=2: reshard f32[64]+avg(x) -> f32[64]+y"}) {
    const Case c = parse_case(line);
    const Spec& spec = c.op.operands[0];
    const double n = static_cast<double>(axes_size(c.mesh, spec.averaged));
    const std::vector<Parts> all = parts_of(c);
    const auto exact = [&](double x) { return decode(spec.dtype, encode(spec.dtype, x)) == x; };
    for (const Parts& parts : all) {
      EXPECT_TRUE(exact(sum(parts) / n)) << line;
      for (double part : parts) EXPECT_TRUE(exact(part / n)) << line;
    }
    const Way mean = [&](const Parts& parts) { return sum(parts) / n; };
    EXPECT_GT(differ(all, mean, sum), 0.8) << line;  // not where the sum is zero
    for (std::size_t p = 0; p < all[0].size(); ++p)
      EXPECT_EQ(differ(all, mean, [&](const Parts& parts) { return sum(without(parts, p)) / n; }), 1) << line;
    EXPECT_EQ(certificate(c).scope, Certificate::Scope::any_split) << line;
    EXPECT_THAT(certificate(c).text, testing::HasSubstr("the mean is exact"));
  }
}

}  // namespace
}  // namespace plumb
