#include "reference/check/factors.h"

#include <algorithm>

namespace plumb {
namespace {

bool has(const std::string& word, char letter) { return word.find(letter) != std::string::npos; }

Range common(const Range& a, const Range& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// What an operand brings to a part of the result: of a letter that the result has its range, of any other
// all.
Slice slice_of(const Case& c, int operand, const Slice& out) {
  const Letters words = letters(c.op);
  Slice slice;
  for (std::size_t d = 0; d < words.operand[operand].size(); ++d) {
    const std::size_t at = words.out.find(words.operand[operand][d]);
    slice.push_back(at == std::string::npos ? Range{0, c.op.operands[operand].dims[d].size} : out[at]);
  }
  return slice;
}

// Rows in, rows out: each run of a group by itself, and what lies between.
std::vector<Factors> by_rows(const Case& c, const Grouped& grouped, const Slice& block) {
  std::vector<Factors> all;
  const auto runs = group_rows(grouped, c.op.operands[0].dims[0].size);
  for (std::size_t g = 0; g < runs.size(); ++g)
    for (const Range& run : runs[g]) {
      Factors part{block, {}};
      part.out[0] = common(run, block[0]);
      if (part.out[0].size() == 0) continue;
      part.pairs.push_back({slice_of(c, 0, part.out), slice_of(c, 1, part.out)});
      part.pairs[0][1][0] = {static_cast<std::int64_t>(g), static_cast<std::int64_t>(g) + 1};
      all.push_back(std::move(part));
    }
  std::ranges::sort(all, {}, [](const Factors& part) { return part.out[0].begin; });
  std::vector<Factors> tails;
  std::int64_t at = block[0].begin;
  const auto zeros_to = [&](std::int64_t end) {
    if (end <= at) return;
    tails.push_back({block, {}});
    tails.back().out[0] = {at, end};
  };
  for (const Factors& part : all) zeros_to(part.out[0].begin), at = part.out[0].end;
  zeros_to(block[0].end);
  std::ranges::move(tails, std::back_inserter(all));
  return all;
}

// Rows are summed: each group of the block by itself.
std::vector<Factors> by_group(const Case& c, const Grouped& grouped, const Slice& block) {
  std::vector<Factors> all;
  const auto runs = group_rows(grouped, c.op.operands[0].dims[0].size);
  for (std::int64_t g = block[0].begin; g < block[0].end; ++g) {
    Factors part{block, {}};
    part.out[0] = {g, g + 1};
    for (const Range& run : runs[g]) {
      if (run.size() == 0) continue;
      part.pairs.push_back({slice_of(c, 0, block), slice_of(c, 1, block)});
      for (Slice& slice : part.pairs.back()) slice[0] = run;
    }
    all.push_back(std::move(part));
  }
  return all;
}

}  // namespace

std::vector<Factors> factors_of(const Case& c, const Slice& block) {
  if (elements(block) == 0) return {};
  const auto* grouped = std::get_if<Grouped>(&c.op.kind);
  if (!grouped) {
    return {
        {block, {{slice_of(c, 0, block), slice_of(c, 1, block)}}}
    };
  }
  return grouped->form == Form::wgrad ? by_group(c, *grouped, block) : by_rows(c, *grouped, block);
}

Parts parts_of(const Op& op) {
  Parts p{letters(op), "", "", "", contracted(op)};
  for (char letter : p.words.out) {
    const bool left = has(p.words.operand[0], letter), right = has(p.words.operand[1], letter);
    if (left || right) (left && right ? p.batch : left ? p.rows : p.columns) += letter;
  }
  return p;
}

}  // namespace plumb
