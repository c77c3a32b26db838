#include "harness/trace/needs.h"

#include <algorithm>

#include "reference/words/letters.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

Slice whole(const Spec& spec) {
  Slice all;
  for (const Dim& dim : spec.dims) all.push_back({0, dim.size});
  return all;
}

std::vector<Slice> some(Slice slice) {
  if (elements(slice) == 0) return {};
  return {std::move(slice)};
}

// The indices of a dimension whose tile is one of these.
std::vector<Range> runs(const std::vector<std::int64_t>& along, const std::vector<char>& tiles) {
  std::vector<Range> all;
  for (std::int64_t i = 0; i < std::ssize(along); ++i) {
    if (along[i] < 0 || !tiles[along[i]]) continue;
    if (all.empty() || all.back().end != i) all.push_back({i, i});
    ++all.back().end;
  }
  return all;
}

// All combinations of a run of each dimension.
std::vector<Slice> boxes(const std::vector<std::vector<Range>>& runs_of) {
  std::vector<Slice> all{{}};
  for (const std::vector<Range>& of_dim : runs_of) {
    std::vector<Slice> next;
    for (const Slice& slice : all)
      for (const Range& run : of_dim) next.push_back(slice), next.back().push_back(run);
    all = std::move(next);
  }
  return all;
}

// What shares a tile with an element of the slice, which itself may lie in none.
std::vector<Slice> widened(const Tiles& cut, const Slice& slice) {
  std::vector<std::vector<Range>> all;
  for (std::size_t d = 0; d < slice.size(); ++d) {
    std::vector<char> touched(cut.count[d]);
    for (std::int64_t i = slice[d].begin; i < slice[d].end; ++i)
      if (cut.along[d][i] >= 0) touched[cut.along[d][i]] = 1;
    all.push_back(runs(cut.along[d], touched));
  }
  return boxes(all);
}

// The values of some tiles; a dimension that the scales lack has one tile.
std::vector<Slice> in_tiles(const Tiles& cut, const Slice& scales) {
  std::vector<std::vector<Range>> all;
  for (std::size_t d = 0; d < cut.along.size(); ++d) {
    std::vector<char> touched(cut.count[d], d >= scales.size());
    for (std::int64_t t = 0; d < scales.size() && t < cut.count[d]; ++t)
      touched[t] = scales[d].begin <= t && t < scales[d].end;
    all.push_back(runs(cut.along[d], touched));
  }
  return boxes(all);
}

// The part of an operand that the slice of the result shares its letters with, but for rows and groups that
// `bounds` says.
Slice shared(const Op& op, int operand, const Slice& block,
             const std::vector<std::pair<char, Range>>& bounds) {
  const Letters words = letters(op);
  Slice slice = whole(op.operands[operand]);
  for (std::size_t d = 0; d < slice.size(); ++d) {
    const char letter = words.operand[operand][d];
    if (const std::size_t at = words.out.find(letter); at != std::string::npos) slice[d] = block[at];
    for (const auto& [bounded, range] : bounds)
      if (bounded == letter) slice[d] = range;
  }
  return slice;
}

std::vector<Slice> of_groups(const Op& op, int operand, const Slice& block) {
  const auto& grouped = std::get<Grouped>(op.kind);
  const bool rows_of_result = grouped.form != Form::wgrad;
  const std::int64_t rows = op.operands[0].dims[0].size;
  const Range asked = rows_of_result ? block[0] : Range{0, rows};
  const auto all_runs = group_rows(grouped, rows);
  std::vector<Slice> all;
  for (std::int64_t g = 0; g < std::ssize(all_runs); ++g) {
    if (!rows_of_result && (g < block[0].begin || g >= block[0].end)) continue;
    bool weights = false;
    for (Range run : all_runs[g]) {
      run = both(run, asked);
      if (run.size() == 0) continue;
      const Slice slice = shared(op, operand, block,
                                 {
                                     {'t', run       },
                                     {'g', {g, g + 1}}
      });
      const bool repeated = rows_of_result && operand == 1 && weights;  // the same for every run
      if (elements(slice) > 0 && !repeated) all.push_back(slice);
      weights = true;
    }
  }
  return all;
}

std::vector<Slice> of_delayed(const Op& op, std::size_t r, int operand, const Slice& block) {
  enum { values, history, scale };
  enum { codes, scale_inverse, next_history, next_scale };
  const std::int64_t places = op.operands[history].dims[0].size;
  if (r == scale_inverse) return operand == scale ? some({}) : std::vector<Slice>{};
  if (r == codes) {
    if (operand == history || elements(block) == 0) return {};
    return operand == scale ? some(whole(op.operands[scale])) : some(block);
  }
  if (operand == scale) return {};
  if (r == next_scale) {
    if (operand == values) return some(whole(op.operands[values]));
    return some({
        {std::min<std::int64_t>(1, places), places}
    });
  }
  // Place i is i + 1 of the old one, the first 0, the last the magnitude of now.
  if (operand == values) {
    const bool last = block[0].begin < places && block[0].end == places && places > 1;
    return last ? some(whole(op.operands[values])) : std::vector<Slice>{};
  }
  const Range moved{std::max<std::int64_t>(block[0].begin, 1), std::min(block[0].end, places - 1)};
  if (moved.begin >= moved.end) return {};
  return some({
      {moved.begin + 1, moved.end + 1}
  });
}

}  // namespace

std::vector<Slice> needed(const Op& op, std::size_t r, int operand, const Slice& block) {
  if (elements(block) == 0) return {};
  if (std::holds_alternative<Reshard>(op.kind)) return {block};
  if (std::holds_alternative<Resolve>(op.kind)) return {};
  if (std::holds_alternative<Quantize>(op.kind)) {
    if (op.operands.size() > 1) return of_delayed(op, r, operand, block);
    return r == 0 ? widened(tiles(op), block) : in_tiles(tiles(op), block);
  }
  const std::vector<Slice> plain = std::holds_alternative<Grouped>(op.kind)
                                       ? of_groups(op, operand, block)
                                       : some(shared(op, operand, block, {}));
  if (op.operands[operand].scheme == Scheme::none) return plain;
  const std::optional<Tiles> cut = tiles(op, operand);
  if (!cut) return plain;
  std::vector<Slice> all;
  for (const Slice& slice : plain) std::ranges::copy(widened(*cut, slice), std::back_inserter(all));
  return all;
}

bool is_constant(const Case& c, std::size_t r) {
  const Slice all = whole(results(c)[r]);
  if (elements(all) == 0) return false;
  for (int i = 0; i < std::ssize(c.op.operands); ++i)
    if (!needed(c.op, r, i, all).empty()) return false;
  return true;
}

}  // namespace plumb
