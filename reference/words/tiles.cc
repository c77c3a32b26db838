#include "reference/words/tiles.h"

#include <algorithm>
#include <numeric>

#include "reference/words/letters.h"

namespace plumb {
namespace {

using Sizes = std::vector<std::vector<std::int64_t>>;

struct Cut {
  std::vector<std::int64_t> along;
  std::int64_t count = 0;
};

Cut whole(std::int64_t size) { return {std::vector<std::int64_t>(size, 0), 1}; }

Cut each(std::int64_t size) {
  Cut cut{std::vector<std::int64_t>(size), size};
  std::iota(cut.along.begin(), cut.along.end(), std::int64_t{0});
  return cut;
}

std::vector<Range> runs_in_order(const Sizes& sizes, std::int64_t rows) {
  std::vector<Range> all;
  for (const std::vector<Range>& runs : group_rows(sizes, rows))
    all.insert(all.end(), runs.begin(), runs.end());
  std::ranges::stable_sort(all, {}, &Range::begin);
  return all;
}

Cut blocks(std::int64_t size, const Sizes& sizes) {
  Cut cut{std::vector<std::int64_t>(size, -1), 0};
  for (const Range& run : sizes.empty() ? std::vector<Range>{{0, size}} : runs_in_order(sizes, size)) {
    for (std::int64_t i = run.begin; i < run.end; ++i)
      cut.along[i] = cut.count + (i - run.begin) / kBlockSize;
    cut.count += (run.size() + kBlockSize - 1) / kBlockSize;
  }
  return cut;
}

Cut by_group(std::int64_t size, const Sizes& sizes) {
  Cut cut{std::vector<std::int64_t>(size, -1), static_cast<std::int64_t>(sizes.front().size())};
  const std::vector<std::vector<Range>> runs = group_rows(sizes, size);
  for (std::size_t g = 0; g < runs.size(); ++g)
    for (const Range& run : runs[g])
      std::fill(cut.along.begin() + run.begin, cut.along.begin() + run.end, static_cast<std::int64_t>(g));
  return cut;
}

// Rows as they are, but those of no group.
Cut each_of_groups(std::int64_t size, const Sizes& sizes) {
  Cut cut = each(size);
  const Cut groups = by_group(size, sizes);
  for (std::int64_t i = 0; i < size; ++i)
    if (groups.along[i] < 0) cut.along[i] = -1;
  return cut;
}

Tiles joined(std::vector<Cut> cuts) {
  Tiles t;
  for (Cut& cut : cuts) {
    t.along.push_back(std::move(cut.along));
    t.count.push_back(cut.count);
  }
  return t;
}

// One scale for all values, or one for each tile of the first dimension.
Tiles one_for_all(const Shape& x, std::optional<Cut> first) {
  std::vector<Cut> cuts;
  for (std::int64_t size : x) cuts.push_back(whole(size));
  if (first) cuts[0] = std::move(*first);
  return joined(std::move(cuts));
}

Tiles in_blocks_along(const Shape& x, std::size_t dim, const Sizes& sizes) {
  std::vector<Cut> cuts;
  for (std::size_t d = 0; d < x.size(); ++d)
    cuts.push_back(d == dim ? blocks(x[d], d == 0 ? sizes : Sizes{}) : each(x[d]));
  if (dim > 0 && !sizes.empty()) cuts[0] = each_of_groups(x[0], sizes);
  return joined(std::move(cuts));
}

}  // namespace

std::int64_t size(const Tiles& t) {
  return std::accumulate(t.count.begin(), t.count.end(), std::int64_t{1}, std::multiplies<>());
}

std::optional<Tiles> tiles(const Quantize& q, const Shape& x, const Shape& scales) {
  if (!in_blocks(q.scheme)) {
    if (!q.sizes.empty())
      return scales == Shape{std::ssize(q.sizes.front())}
                 ? std::optional(one_for_all(x, by_group(x[0], q.sizes)))
                 : std::nullopt;
    if (scales.empty()) return one_for_all(x, {});
    if (x.size() > 1 && scales == Shape{x[0]}) return one_for_all(x, each(x[0]));
    return std::nullopt;
  }
  for (std::size_t dim = x.size(); dim-- > 0;) {
    Tiles t = in_blocks_along(x, dim, q.sizes);
    if (t.count == scales) return t;
  }
  return std::nullopt;
}

Tiles tiles(const Op& op) {
  return *tiles(std::get<Quantize>(op.kind), shape(op.operands[0]), shape(op.chain[1]));
}

int block_dim(const Op& op, int operand) {
  const std::vector<int> dims = contracted_dims(op, operand);
  return dims.empty() ? -1 : dims.back();
}

std::optional<Tiles> tiles(const Op& op, int operand) {
  const Shape x = shape(op.operands[operand]);
  const auto* grouped = std::get_if<Grouped>(&op.kind);
  const bool rows = grouped && (operand == 0 || grouped->form == Form::wgrad);
  const Sizes sizes = rows ? grouped->sizes : Sizes{};
  if (in_blocks(op.operands[operand].scheme)) {
    const int dim = block_dim(op, operand);
    if (dim < 0) return std::nullopt;
    return in_blocks_along(x, dim, sizes);
  }
  if (!grouped) return one_for_all(x, {});
  return one_for_all(x, rows ? by_group(x[0], sizes) : each(x[0]));
}

}  // namespace plumb
