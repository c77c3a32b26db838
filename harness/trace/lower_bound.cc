#include "harness/trace/lower_bound.h"

#include <algorithm>
#include <functional>
#include <map>

#include "reference/bytes/bytes.h"
#include "reference/bytes/move.h"
#include "reference/words/letters.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

using Count = __int128;

// What a block of a product runs over: for each letter some indices. Rows of a group may be several runs.
using Extents = std::map<char, std::vector<Range>>;

Count size(const std::vector<Range>& ranges) {
  Count n = 0;
  for (const Range& range : ranges) n += range.size();
  return n;
}

Count overlap_of(const std::vector<Range>& ranges, const Range& held) {
  Count n = 0;
  for (const Range& range : ranges) n += both(range, held).size();
  return n;
}

// Those of a block, one for each group with rows in it; of an einsum one.
std::vector<Extents> extents_of(const Op& op, const Slice& block) {
  const Letters words = letters(op);
  Extents all;
  for (int i : {0, 1})
    for (std::size_t d = 0; d < words.operand[i].size(); ++d)
      all[words.operand[i][d]].assign(1, {0, op.operands[i].dims[d].size});
  for (std::size_t d = 0; d < words.out.size(); ++d) all[words.out[d]] = {block[d]};
  const auto* grouped = std::get_if<Grouped>(&op.kind);
  if (!grouped) return {all};
  std::vector<Extents> of_groups;
  const auto runs = group_rows(*grouped, op.operands[0].dims[0].size);
  const Range rows = all['t'].front(), groups = all['g'].front();
  for (std::int64_t g = groups.begin; g < groups.end; ++g) {
    all['g'].assign(1, {g, g + 1});
    all['t'].clear();
    for (const Range& run : runs[g])
      if (const Range met = both(run, rows); met.size() > 0) all['t'].push_back(met);
    if (!all['t'].empty()) of_groups.push_back(all);
  }
  return of_groups;
}

// One operand of a block: rows are all of its letters that the other operand lacks, batches those that it
// has.
struct Factor {
  Count batches = 1, batches_held = 1, rows = 1, rows_held = 1, terms = 1, terms_held = 1;

  // Of all rows alike: what is held of one counts as held.
  Count lacks() const { return batches_held * rows_held > 0 ? terms - terms_held : terms; }
};

Factor factor(const Case& c, const Extents& extents, int operand, std::int64_t device) {
  const Letters words = letters(c.op);
  const Spec& spec = c.op.operands[operand];
  const Slice held = block(c.mesh, spec, c.rule, device);
  Factor f;
  for (std::size_t d = 0; d < held.size(); ++d) {
    const char letter = words.operand[operand][d];
    const bool kept = words.out.find(letter) != std::string::npos,
               shared = words.operand[1 - operand].find(letter) != std::string::npos;
    (!kept ? f.terms : shared ? f.batches : f.rows) *= size(extents.at(letter));
    (!kept ? f.terms_held : shared ? f.batches_held : f.rows_held) *= overlap_of(extents.at(letter), held[d]);
  }
  if (parts(c.mesh, spec) > 1) f.rows_held = 0;
  return f;
}

// Values that a device must be told for its block, by the rows of this operand.
Count values(const Factor& f, const Factor& other) {
  const auto of_batch = [&](Count held) {
    return values_told(
        {
            {held,          f.terms - f.terms_held, other.rows},
            {f.rows - held, f.terms,                other.rows}
    },
        other.lacks());
  };
  return f.batches_held * of_batch(f.rows_held) + (f.batches - f.batches_held) * of_batch(0);
}

std::vector<std::int64_t> of_product(const Case& c, const std::vector<Slice>& slices) {
  if (parts(c.mesh, result(c)) > 1) return {};
  std::vector<std::int64_t> all(slices.size());
  for (std::int64_t device = 0; device < std::ssize(slices); ++device) {
    if (elements(slices[device]) == 0) continue;
    Count sum = 0;
    for (const Extents& one : extents_of(c.op, slices[device])) {
      const Factor left = factor(c, one, 0, device), right = factor(c, one, 1, device);
      sum += std::max(values(left, right), values(right, left));
    }
    all[device] = static_cast<std::int64_t>(std::min<Count>(sum * bytes_of_value(c), Count{1} << 62));
  }
  return all;
}

// Tiles of a dimension, those in a range: that have any index, and that lie in the range held.
std::pair<Count, Count> tiles_along(const Tiles& cut, std::size_t d, const Range& asked, const Range& held) {
  std::vector<char> any(cut.count[d]), outside(cut.count[d]);
  for (std::int64_t i = 0; i < std::ssize(cut.along[d]); ++i) {
    const std::int64_t tile = cut.along[d][i];
    if (tile < asked.begin || tile >= asked.end) continue;
    any[tile] = 1;
    if (i < held.begin || i >= held.end) outside[tile] = 1;
  }
  return {std::ranges::count(any, 1), std::ranges::count(any, 1) - std::ranges::count(outside, 1)};
}

// Codes of values that the device does not hold, or scales of tiles of which it does not hold all.
std::vector<std::int64_t> of_quantize(const Case& c, const std::vector<Slice>& slices) {
  const Tiles cut = c.op.operands.size() == 1 ? tiles(c.op) : Tiles{};
  const Spec &x = c.op.operands[0], &scale = c.op.chain[1];
  const std::int64_t bytes_of_scale = std::min(format(x.dtype).bytes, format(scale.dtype).bytes);
  // A code and a scale in one byte each are no more than a value, which tells both; of others either may say
  // more.
  const bool apart = format(scale.dtype).bytes == 1 && format(x.dtype).bytes > 1;
  std::vector<std::int64_t> all;
  for (std::int64_t device = 0; device < std::ssize(slices); ++device) {
    const Slice held = block(c.mesh, x, c.rule, device), scales = block(c.mesh, scale, c.rule, device);
    Count codes = 1, codes_held = 1, tiles = 1, tiles_held = 1;
    for (std::size_t d = 0; d < held.size(); ++d) {
      std::vector<Range> of_groups;
      for (std::int64_t i = slices[device][d].begin; i < slices[device][d].end; ++i)
        if (cut.along.empty() || cut.along[d][i] >= 0) of_groups.push_back({i, i + 1});
      codes *= size(of_groups);
      codes_held *= overlap_of(of_groups, held[d]);
      if (cut.along.empty()) continue;
      const auto [any, whole] =
          tiles_along(cut, d, d < scales.size() ? scales[d] : Range{0, cut.count[d]}, held[d]);
      tiles *= any;
      tiles_held *= whole;
    }
    const Count of_scales = cut.along.empty() ? 0 : (tiles - tiles_held) * bytes_of_scale;
    all.push_back(static_cast<std::int64_t>(apart ? codes - codes_held + of_scales
                                                  : std::max(codes - codes_held, of_scales)));
  }
  return all;
}

std::vector<std::int64_t> of_free_reshard(const Case& c, const std::vector<Slice>& slices) {
  const Spec& from = c.op.operands[0];
  const std::int64_t bytes = least_bytes(c);
  std::vector<std::int64_t> all;
  for (std::int64_t device = 0; device < std::ssize(slices); ++device) {
    const Slice held = block(c.mesh, from, c.rule, device);
    Count own = parts(c.mesh, from) > 1 ? 0 : 1;
    for (std::size_t d = 0; d < held.size(); ++d) own *= overlap_of({slices[device][d]}, held[d]);
    all.push_back((elements(slices[device]) - static_cast<std::int64_t>(own)) * bytes);
  }
  return all;
}

}  // namespace

__int128 values_told(std::vector<AlikeRows> rows, __int128 lacks_of_other) {
  std::ranges::stable_sort(rows, std::greater{}, [](const AlikeRows& row) { return row.due - row.lacks; });
  Count sum = 0;
  for (const AlikeRows& row : rows) {
    const Count in_full = std::min(row.count, lacks_of_other);
    sum += in_full * row.due + (row.count - in_full) * std::min(row.lacks, row.due);
    lacks_of_other -= in_full;
  }
  return sum;
}

int bytes_of_value(const Case& c) {
  int least = std::min({format(c.acc).bytes, format(c.wire).bytes, format(result(c).dtype).bytes});
  for (const Spec& spec : c.op.operands)
    least = std::min(least, format(spec.scheme == Scheme::none ? spec.dtype : codes_of(spec.scheme)).bytes);
  return least;
}

std::vector<std::int64_t> fewest_received(const Case& c, const std::vector<Slice>& slices) {
  if (is_resolve(c) || slices.empty()) return {};
  if (is_quantize(c)) return of_quantize(c, slices);
  if (!is_reshard(c)) return of_product(c, slices);
  return result(c).free ? of_free_reshard(c, slices) : fewest_bytes(c);
}

}  // namespace plumb
