// Law: whatever happens to a dump, it is read, and what is read is printed and read as the same; or it is
// refused in one message that points at a character of it. With other mistakes each time, as long as one
// likes: hlo_module_tests fuzz_test.cc --gtest_shuffle --gtest_repeat=1000
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>

#include "reference/hlo/module/module.h"
#include "reference/hlo/module/testing/dumps.h"

namespace plumb::hlo {
namespace {

struct Random {
  std::mt19937_64 bits{static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed())};
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }
};

const std::vector<std::string>& texts() {
  static const std::vector<std::string> kTexts = [] {
    std::vector<std::string> small;
    for (const auto& path : dumps())
      if (std::string text = read(path); text.size() < 20000) small.push_back(std::move(text));
    return small;
  }();
  return kTexts;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

// "m.txt:12:34: why", the line or a part of it, and a caret below the character that the numbers name.
void expect_pointed(const std::string& message, const std::string& text) {
  static const std::regex kHead("m\\.txt:([1-9][0-9]*):([1-9][0-9]*): [^\n]+");
  const std::vector<std::string> said = lines_of(message), lines = lines_of(text);
  std::smatch numbers;
  ASSERT_EQ(said.size(), 3u) << message;
  ASSERT_TRUE(std::regex_match(said[0], numbers, kHead)) << message;
  const std::size_t line = std::stoul(numbers[1]), column = std::stoul(numbers[2]);
  ASSERT_LE(line, lines.size()) << message;
  ASSERT_LE(column, lines[line - 1].size() + 1) << message;
  ASSERT_EQ(said[2].find_first_not_of(' '), said[2].size() - 1) << message;
  ASSERT_EQ(said[2].back(), '^') << message;
  const std::string shown = said[1] + ' ', all = lines[line - 1] + ' ';
  const char below = shown.at(said[2].size() - 1), meant = all[column - 1];
  ASSERT_EQ(below, meant < ' ' || meant > '~' ? (meant == '\t' ? ' ' : '?') : meant) << message;
}

struct Outcomes {
  int refused = 0, read = 0;
};

void try_text(const std::string& text, Outcomes& outcomes) {
  try {
    const Module module = parse(text, "m.txt");
    const std::string canonical = print(module);
    ASSERT_EQ(print(parse(canonical, "m.txt")), canonical) << text;
    ++outcomes.read;
  } catch (const BadModule& error) {
    expect_pointed(error.what(), text);
    ++outcomes.refused;
  }
}

// Tries `times` mistakes, each in one of the texts.
template <typename Mistake>
Outcomes tried(int times, const Mistake& mistake) {
  Random random;
  Outcomes outcomes;
  for (int n = 0; n < times && !testing::Test::HasFatalFailure(); ++n)
    try_text(mistake(random, texts()[random.below(texts().size())]), outcomes);
  return outcomes;
}

// Words, numbers and single marks of a line: "f32", "[", "8", "]".
struct Token {
  std::size_t at = 0, length = 0;
};

std::vector<Token> tokens_of_a_line(Random& random, const std::string& text) {
  std::vector<Token> tokens;
  const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const std::size_t middle = random.below(text.size());
  std::size_t at = middle == 0 ? 0 : text.rfind('\n', middle - 1) + 1;
  for (const std::size_t end = std::min(text.find('\n', middle), text.size()); at < end;) {
    std::size_t length = 1;
    while (of_word(text[at]) && at + length < end && of_word(text[at + length])) ++length;
    tokens.push_back({at, length}), at += length;
  }
  return tokens;
}

TEST(Fuzz, ADumpIsCutAnywhere) {
  ASSERT_GT(texts().size(), 50u);
  Random random;
  Outcomes outcomes;
  for (const std::string& text : texts()) {
    const std::size_t step = 1 + text.size() / 30;
    for (std::size_t at = random.below(step); at + 2 < text.size(); at += step)
      ASSERT_NO_FATAL_FAILURE(try_text(text.substr(0, at), outcomes));
  }
  EXPECT_GT(outcomes.refused, 1500);
  EXPECT_EQ(outcomes.read, 0) << "an end was missed";
}

TEST(Fuzz, BytesChangePlacesOrValue) {
  const Outcomes outcomes = tried(1500, [](Random& random, std::string text) {
    const std::size_t at = random.below(text.size()), near = std::min(at + random.below(40), text.size() - 1);
    if (random.below(2) == 0)
      std::swap(text[at], text[near]);
    else
      text[at] = static_cast<char>(random.below(256));
    return text;
  });
  EXPECT_GT(outcomes.refused, 300);
  EXPECT_GT(outcomes.read, 100);
}

TEST(Fuzz, TokensAreLostDoubledOrOthers) {
  const Outcomes outcomes = tried(1500, [](Random& random, std::string text) {
    const std::vector<Token> tokens = tokens_of_a_line(random, text);
    if (tokens.empty()) return text;
    const Token token = tokens[random.below(tokens.size())], other = tokens[random.below(tokens.size())];
    const std::string word = text.substr(token.at, token.length);
    const std::string now[] = {"", word + word, word + " " + word, text.substr(other.at, other.length)};
    return text.replace(token.at, token.length, now[random.below(std::size(now))]);
  });
  EXPECT_GT(outcomes.refused, 500);
  EXPECT_GT(outcomes.read, 100);
}

TEST(Fuzz, NumbersAreOthers) {
  const Outcomes outcomes = tried(1500, [](Random& random, std::string text) {
    std::vector<Token> numbers = tokens_of_a_line(random, text);
    std::erase_if(numbers,
                  [&](const Token& t) { return !std::isdigit(static_cast<unsigned char>(text[t.at])); });
    if (numbers.empty()) return text;
    const Token number = numbers[random.below(numbers.size())];
    const std::string was = text.substr(number.at, number.length);
    const std::string now[] = {was + "0",
                               was + was,
                               "-" + was,
                               "-1",
                               "0",
                               "2147483648",
                               "4611686018427387904",
                               "9223372036854775807",
                               "18446744073709551616",
                               std::string(400, '9'),
                               "1e999",
                               "0.5"};
    return text.replace(number.at, number.length, now[random.below(std::size(now))]);
  });
  EXPECT_GT(outcomes.refused, 300);
  EXPECT_GT(outcomes.read, 300);
}

TEST(Fuzz, SeveralMistakesOfTheLanguage) {
  static const std::string pieces[] = {
      "{",           "}",     "(", ")",  "[",   "]",     ",",      "=",
      "%",           "\"",    "'", "<=", "T(",  "ROOT ", "ENTRY ", "\n",
      "/*",          "mesh[", " ", "\\", "nan", "f32[",  "{...}",  "parameter(0)",
      "dimensions={"};
  const Outcomes outcomes = tried(1500, [](Random& random, std::string text) {
    for (std::size_t n = 1 + random.below(3); n > 0; --n) {
      const std::size_t at = random.below(text.size() + 1), length = random.below(12);
      if (random.below(3) == 0)
        text.erase(at, length);
      else if (random.below(2) == 0)
        text.insert(at, pieces[random.below(std::size(pieces))]);
      else
        text.insert(at, text.substr(random.below(text.size() + 1), length));
    }
    return text;
  });
  EXPECT_GT(outcomes.refused, 500);
  EXPECT_GT(outcomes.read, 50);
}

}  // namespace
}  // namespace plumb::hlo
