#include "adapters/protocol/table.h"

#include <fmt/format.h>

#include "adapters/protocol/malformed.h"

namespace plumb {

namespace {

struct Words {
  std::span<const std::int64_t> left;
  std::int64_t row = 0;

  std::int64_t next() {
    if (left.empty()) throw Malformed(fmt::format("the table ends in row {}", row));
    const std::int64_t word = left.front();
    left = left.subspan(1);
    return word;
  }
  // A word that says how many items of at least `words` words follow.
  std::int64_t next_count(std::string_view what, std::int64_t words) {
    const std::int64_t n = next();
    if (n < 0) throw Malformed(fmt::format("row {} of the table: {} is {}", row, what, n));
    if (n > std::ssize(left) / words) throw Malformed(fmt::format("the table ends in row {}", row));
    return n;
  }
  std::uint64_t next_unsigned(std::string_view what) {
    const std::int64_t n = next();
    if (n < 0) throw Malformed(fmt::format("row {} of the table: {} is {}", row, what, n));
    return static_cast<std::uint64_t>(n);
  }
};

std::vector<Range> parse_ranges(Words& words) {
  std::vector<Range> ranges(static_cast<std::size_t>(words.next_count("nranges", 2)));
  for (Range& r : ranges) {
    r.begin = words.next();
    r.end = words.next();
  }
  return ranges;
}

Block parse_row(Words& words) {
  Block b;
  b.device = words.next();
  b.result = words.next();
  b.offset = words.next_unsigned("offset");
  b.bytes = words.next_unsigned("bytes");
  if (!words.left.empty() && words.left.front() == -1) {
    words.next();
    return b;
  }
  b.claim.emplace(static_cast<std::size_t>(words.next_count("ndim", 1)));
  for (auto& ranges : *b.claim) ranges = parse_ranges(words);
  return b;
}

}  // namespace

std::vector<std::int64_t> table(const std::vector<Block>& blocks) {
  std::vector<std::int64_t> words;
  words.reserve(blocks.size() * 8);
  for (const Block& b : blocks) {
    words.insert(words.end(), {b.device, b.result, static_cast<std::int64_t>(b.offset),
                               static_cast<std::int64_t>(b.bytes), b.claim ? std::ssize(*b.claim) : -1});
    if (!b.claim) continue;
    for (const auto& ranges : *b.claim) {
      words.push_back(std::ssize(ranges));
      for (const Range& r : ranges) words.insert(words.end(), {r.begin, r.end});
    }
  }
  return words;
}

std::vector<Block> parse_table(std::span<const std::int64_t> table, std::int64_t rows) {
  std::vector<Block> blocks;
  Words words{table};
  for (; words.row < rows; ++words.row) blocks.push_back(parse_row(words));
  if (!words.left.empty())
    throw Malformed(fmt::format("{} words follow the {} rows of the table", words.left.size(), rows));
  return blocks;
}

}  // namespace plumb
