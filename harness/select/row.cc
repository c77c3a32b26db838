#include "harness/select/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "reference/words/text.h"

namespace plumb {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

template <class Number>
Number number(std::string_view word, std::string_view what, std::string_view row) {
  Number value{};
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  // The last is for what is no number, and for infinity.
  if (error != std::errc() || rest != word.data() + word.size() || !(value >= Number{}) ||
      value - value != Number{})
    throw bad_input(fmt::format("expected {}", what), row, word.data() - row.data());
  return value;
}

// The words of a row that a range is made of, N=1Ki:1Mi:4, and where each begins there.
struct RangeWords {
  std::string range;
  std::vector<std::pair<std::size_t, std::string_view>> words;
  void add(std::string_view before, std::string_view word) {
    range += before;
    words.emplace_back(range.size(), word);
    range += word;
  }
};

// What is wrong with a range is said of the row's own words.
SizeRange parse_size_of_row(const RangeWords& said, std::string_view whole) {
  try {
    return parse_size(said.range);
  } catch (const BadInput& error) {
    const std::string_view text = error.what();
    const std::size_t at = text.size() - text.rfind('\n') - 4;  // "\n  ", and the caret
    const auto* word = &said.words.front();
    for (const auto& one : said.words)
      if (one.first <= at) word = &one;
    throw bad_input(without_excerpt(error), whole, word->second.data() - whole.data() + (at - word->first));
  }
}

// "N from 1Ki to 1Mi by 4", or "N of 1Ki".
SizeRange size_of_row(std::string_view text, std::string_view whole) {
  RangeWords said;
  said.add("", take_word(text));
  if (text.starts_with(" of ")) {
    take_word(text);
    said.add("=", take_word(text));
    return parse_size_of_row(said, whole);
  }
  for (std::string_view word : {"from", "to", "by"}) {
    if (const auto have = take_word(text); have != word)
      throw bad_input(fmt::format("expected size NAME from SIZE to SIZE by FACTOR, and {} here", word), whole,
                      have.data() - whole.data());
    said.add(word == "from" ? "=" : ":", take_word(text));
  }
  return parse_size_of_row(said, whole);
}

// "sample 200 seed 7" or "max-waste 1.5".
void take_word_of_row(Row& row, std::string_view text, std::string_view whole) {
  const std::string_view word = take_word(text);
  const bool said = word == "sample"            ? row.sample > 0
                    : word == "max-waste"       ? row.max_waste >= 0
                    : word == "max-collectives" ? row.max_collectives >= 0
                                                : false;
  if (said) throw bad_input(fmt::format("{} stands twice", word), whole, word.data() - whole.data());
  if (word == "sample") {
    row.sample = number<std::int64_t>(take_word(text), "how many cases", whole);
    if (row.sample == 0) throw bad_input("a sample has at least one case", whole, word.data() - whole.data());
    if (const std::string_view seed = take_word(text); seed == "seed")
      row.seed = number<std::uint64_t>(take_word(text), "a seed", whole);
    else if (!seed.empty())
      throw bad_input("expected seed or ':'", whole, seed.data() - whole.data());
  } else if (word == "size") {
    const SizeRange size = size_of_row(text, whole);
    if (std::ranges::count(row.sizes, size.name, &SizeRange::name) > 0)
      throw bad_input(fmt::format("size {} stands twice", size.name), whole, word.data() - whole.data());
    row.sizes.push_back(size);
  } else if (word == "max-waste") {
    row.max_waste = number<double>(take_word(text), "a factor", whole);
  } else if (word == "max-collectives") {
    row.max_collectives = number<double>(take_word(text), "a factor", whole);
  } else {
    throw bad_input(
        "expected a case (on MESH: ...), sample N:, size N from A to B by F:, max-waste F: or "
        "max-collectives F:",
        whole, word.data() - whole.data());
  }
}

}  // namespace

Row parse_row(std::string_view text, const std::string& suite, const std::string& origin) {
  Row row{"", suite, origin};
  std::string_view line = trimmed(text);
  if (line.size() > longest_line)
    throw BadInput(fmt::format("{}{}a line of {} bytes, and at most {} MiB are read", origin,
                               origin.empty() ? "" : ": ", line.size(), longest_line >> 20));
  for (std::size_t at = 1; at < line.size(); ++at)
    if (line[at] == '#' && (line[at - 1] == ' ' || line[at - 1] == '\t')) {
      row.note = trimmed(line.substr(at + 1));
      line = trimmed(line.substr(0, at));
    }
  const std::string_view whole = line;
  try {
    while (line.starts_with("sample") || line.starts_with("max-") || line.starts_with("size ")) {
      const std::size_t colon = line.find(':');
      if (colon == line.npos) throw bad_input("expected ':' and a case", whole, whole.size());
      take_word_of_row(row, line.substr(0, colon), whole);
      line = trimmed(line.substr(colon + 1));
    }
  } catch (const BadInput& error) {
    throw origin.empty() ? error : BadInput(fmt::format("{}: {}", origin, error.what()));
  }
  row.line = line;
  return row;
}

std::vector<Row> read_rows(std::istream& in, const std::string& name, const std::string& suite) {
  std::vector<Row> rows;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    const std::string_view line = trimmed(text);
    if (!line.empty() && line[0] != '#')
      rows.push_back(parse_row(line, suite, fmt::format("{}:{}", name, number)));
  }
  if (in.bad()) throw BadInput(fmt::format("{}: cannot be read", name));
  return rows;
}

std::vector<Row> sized(std::vector<Row> rows, const std::vector<SizeRange>& given) {
  std::vector<Row> all;
  std::vector<bool> used(given.size(), false);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (std::ranges::count(given, given[i].name, &SizeRange::name) > 1)
      throw BadInput(fmt::format("--size {}: given twice; several sizes are a range, such as {}=1Ki:1Gi:4",
                                 given[i].name, given[i].name));
  for (Row& row : rows) {
    std::vector<SizeRange> sizes = given;
    for (std::size_t i = 0; i < given.size(); ++i) used[i] = used[i] || leaves_open(row.line, given[i].name);
    for (SizeRange& own : row.sizes)
      if (std::ranges::none_of(given, [&](const SizeRange& g) { return g.name == own.name; }))
        sizes.push_back(own);
    for (std::string& line : with_sizes(row.line, sizes)) {
      all.push_back(row);
      all.back().line = std::move(line);
    }
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!used[i])
      throw BadInput(fmt::format("--size {}: no line has a dimension of this name", given[i].name));
  return all;
}

std::string heading(std::istream& in) {
  std::string text, all;
  while (std::getline(in, text) && text.starts_with("#")) {
    const std::string_view line = trimmed(std::string_view(text).substr(1));
    if (line.empty()) break;
    all += all.empty() ? "" : " ";
    all += line;
  }
  return all;
}

}  // namespace plumb
