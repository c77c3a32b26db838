// For tests: texts of modules with small mistakes, most of which leave a module.
#pragma once

#include <cctype>
#include <random>
#include <string>
#include <vector>

namespace plumb::hlo {

struct Damage {
  std::mt19937_64 bits;
  std::size_t below(std::size_t n) { return bits() % n; }
};

// Where the words stand that `is` holds of, of one line.
template <typename Is>
std::vector<std::pair<std::size_t, std::size_t>> words_of(const std::string& text, const Is& is) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is(text[end])) ++end;
    if (end > at) all.emplace_back(at, end - at);
    at = end + 1;
  }
  return all;
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' || c == '%';
}

inline std::string other_number(Damage& damage, const std::string& number) {
  if (number.size() > 6) return number;
  const std::size_t n = std::stoul(number),
                    others[] = {n + 1, n > 0 ? n - 1 : 1, 0, 1, 2, n < 16 ? 2 * n : n / 2};
  return std::to_string(others[damage.below(std::size(others))]);
}

// A loop whose counting is damaged might not end.
inline bool counts(const std::string& text, const std::string& line) {
  if (text.find(" while(") == text.npos) return false;
  for (const char* part :
       {"constant(", "compare(", "add(", "subtract(", "tuple(", "get-tuple-element(", "direction="})
    if (line.find(part) != line.npos) return true;
  return false;
}

// One mistake in one line: a number is another, two change places, a name is another of the text, a character
// is lost, doubled or another.
inline std::string damaged(Damage& damage, std::string text) {
  std::vector<std::pair<std::size_t, std::size_t>> lines = words_of(text, [](char c) { return c != '\n'; });
  const auto [at, length] = lines[damage.below(lines.size())];
  std::string line = text.substr(at, length);
  const auto numbers = words_of(line, is_digit), names = words_of(line, of_name),
             all = words_of(text, of_name);
  if (counts(text, line)) return text;
  const auto word = [&](const auto& where) { return line.substr(where.first, where.second); };
  switch (damage.below(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      if (numbers.empty()) return text;
      {
        const auto where = numbers[damage.below(numbers.size())];
        line.replace(where.first, where.second, other_number(damage, word(where)));
      }
      break;
    case 4:
    case 5: {
      if (numbers.size() < 2) return text;
      const std::size_t first = damage.below(numbers.size() - 1);
      const std::string a = word(numbers[first]), b = word(numbers[first + 1]);
      line.replace(numbers[first + 1].first, numbers[first + 1].second, a);
      line.replace(numbers[first].first, numbers[first].second, b);
      break;
    }
    case 6:
    case 7: {
      if (names.empty()) return text;
      const auto where = names[damage.below(names.size())], other = all[damage.below(all.size())];
      line.replace(where.first, where.second, text.substr(other.first, other.second));
      break;
    }
    case 8:
      line.erase(damage.below(line.size()), 1);
      break;
    default: {
      const std::string marks = "{}[]()=,:'\"%-x0?";
      line.insert(damage.below(line.size() + 1), 1, marks[damage.below(marks.size())]);
    }
  }
  return text.replace(at, length, line);
}

}  // namespace plumb::hlo
