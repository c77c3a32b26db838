// The parser against drawn cases and damaged lines. Seeds are fixed: a failure repeats.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "reference/words/testing/damage.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(TextFuzz, ParseIsTheInverseOfPrint) {
  Random random{std::mt19937_64(1)};
  for (int i = 0; i < 20000; ++i) {
    const Case c = draw_case(random);
    const std::string line = print(c);
    try {
      ASSERT_TRUE(parse_case(line) == c) << line;
    } catch (const BadInput& error) {
      FAIL() << error.what();
    }
  }
}

// The three lines of a message: what was expected, the line (or a window of it), the caret under it.
std::string malformed(const std::string& message) {
  const std::size_t first = message.find('\n'), last = message.rfind('\n');
  if (first == message.npos || std::ranges::count(message, '\n') != 2) return "not three lines";
  const std::string shown = message.substr(first + 1, last - first - 1), caret = message.substr(last + 1);
  if (first == 0) return "says nothing";
  if (caret.find_first_not_of(' ') != caret.size() - 1 || caret.back() != '^') return "no caret";
  const auto width = std::ranges::count_if(shown, [](char ch) { return (ch & 0xc0) != 0x80; });
  return std::ssize(caret) - 1 > width ? "the caret is past the line" : "";
}

// What is wrong with how a line is read: empty where it is a case whose line is canonical, or is
// refused with one message, which is counted.
std::string misread(const std::string& line, int& refused) {
  try {
    const Case c = parse_case(line);
    const std::string canonical = print(c);
    if (!(parse_case(canonical) == c)) return "another case comes back from '" + canonical + "'";
    if (print(parse_case(canonical)) != canonical) return "'" + canonical + "' is not a fixed point";
    return {};
  } catch (const BadInput& error) {
    ++refused;
    const std::string wrong = malformed(error.what());
    return wrong.empty() ? wrong : wrong + ": " + error.what();
  } catch (const std::exception& error) {
    return std::string("threw ") + error.what();
  }
}

TEST(TextFuzz, DamagedLinesAreReadOrRefused) {
  Random random{std::mt19937_64(2)};
  int refused = 0;
  std::string drawn = print(draw_case(random)), other;
  for (int i = 0; i < 100000; ++i) {
    other = std::exchange(drawn, print(draw_case(random)));
    const std::string line = damage(random, drawn, other);
    ASSERT_EQ(misread(line, refused), "") << line;
  }
  EXPECT_GT(refused, 50000);
  EXPECT_LT(refused, 99000);
}

TEST(TextFuzz, NoiseIsRefused) {
  Random random{std::mt19937_64(3)};
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string line(random.below(300), ' ');
    for (char& ch : line) ch = static_cast<char>(random.below(256));
    ASSERT_EQ(misread(line, refused), "");
    ASSERT_EQ(misread("on x=2: reshard " + line, refused), "");
  }
  EXPECT_EQ(refused, 40000);
}

TEST(TextFuzz, MeshesAndSpecsAloneAreReadOrRefused) {
  Random random{std::mt19937_64(4)};
  for (int i = 0; i < 20000; ++i) {
    const Mesh mesh = draw_mesh(random);
    const Spec spec = draw_spec(random, mesh, DType::f32, {8, 0});
    ASSERT_EQ(parse_mesh(print(mesh)), mesh);
    ASSERT_EQ(parse_spec(print(mesh, spec), mesh), spec);
    const std::string other = print(mesh, spec);
    try {
      parse_mesh(damage(random, print(mesh), other));
      parse_spec(damage(random, other, print(mesh)), mesh);
    } catch (const BadInput& error) {
      ASSERT_EQ(malformed(error.what()), "") << error.what();
    }
  }
}

TEST(TextFuzz, ABadMessageIsSeen) {
  EXPECT_EQ(malformed("expected\n  on x\n    ^"), "");
  EXPECT_EQ(malformed("expected"), "not three lines");
  EXPECT_EQ(malformed("expected\n  on x\n  more\n  ^"), "not three lines");
  EXPECT_EQ(malformed("\n  on x\n  ^"), "says nothing");
  EXPECT_EQ(malformed("expected\n  on x\n  "), "no caret");
  EXPECT_EQ(malformed("expected\n  on x\n       ^"), "the caret is past the line");
}

}  // namespace
}  // namespace plumb
