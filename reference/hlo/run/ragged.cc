#include "reference/hlo/run/ragged.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

Integers extents(const Integers& dims, const Integers& list) {
  Integers all;
  for (const std::int64_t d : list) all.push_back(dims[static_cast<std::size_t>(d)]);
  return all;
}

std::ptrdiff_t place_in(const Integers& list, std::int64_t d) {
  return std::ranges::find(list, d) - list.begin();
}

// The dimensions of lhs by their part in the product.
struct Roles {
  Integers batch, rows, inner;
};

// Of the sizes a list for each index of the batch and of what is outside of the ragged dimension, or one for
// all. For each index of the batch and each place of `dims`, rows or inner, where it begins.
std::vector<Integers> size_lists(const Integers& batch, const Integers& dims, std::ptrdiff_t outside,
                                 const Integers& sizes) {
  require(!sizes.empty(), "a list of sizes");
  const std::int64_t groups = sizes.back();
  const Integers outer(dims.begin(), dims.begin() + outside);
  require(sizes.size() == 1 || Integers(sizes.begin(), sizes.end() - 1) == listed({batch, outer}),
          "a list of sizes for all, or for each index of the batch and of what is outside of the ragged "
          "dimension");
  std::vector<Integers> begins;
  const std::int64_t inside = count(Integers(dims.begin() + outside, dims.end()));
  for (std::int64_t b = 0; b < count(batch); ++b) {
    Integers& begin = begins.emplace_back();
    for (std::int64_t place = 0; place < count(dims); ++place)
      begin.push_back(sizes.size() == 1 ? 0 : (b * count(outer) + place / inside) * groups);
  }
  return begins;
}

// Along the ragged dimension, for each place of `dims`.
Integers coordinates_along(const Integers& dims, std::ptrdiff_t ragged) {
  Integers all;
  each_index(dims, [&](const Integers& index) { all.push_back(index[static_cast<std::size_t>(ragged)]); });
  return all;
}

}  // namespace

Ragged ragged_product(const Instruction& i, const Integers& lhs, const Integers& rhs, const Integers& sizes) {
  const auto lb = get<Integers>(i, Key::lhs_batch_dims), rb = get<Integers>(i, Key::rhs_batch_dims),
             lc = get<Integers>(i, Key::lhs_contracting_dims),
             rc = get<Integers>(i, Key::rhs_contracting_dims),
             ragged = get<Integers>(i, Key::lhs_ragged_dims), group = get<Integers>(i, Key::rhs_group_dims);
  const Roles l{lb, others(lhs.size(), {&lb, &lc}), lc};
  const Integers columns = others(rhs.size(), {&rb, &rc, &group});
  Ragged r;
  Product& p = r.product;
  p.lhs = matrices(lhs, listed({lb, l.rows}), lc),
  p.rhs = matrices(rhs, listed({group, rb, columns}), rc);
  require(ragged.size() == 1 && ragged[0] >= 0 && ragged[0] < std::ssize(lhs), "one ragged dimension");
  require(extents(lhs, lb) == extents(rhs, rb) && extents(lhs, lc) == extents(rhs, rc),
          "batch and contracted dimensions of one extent");
  p.batch = extent(lhs, lb), p.rows = extent(lhs, l.rows), p.columns = extent(rhs, columns),
  p.inner = extent(lhs, lc);
  const Integers batch = extents(lhs, lb), rows = extents(lhs, l.rows), inner = extents(lhs, lc);
  Integers want = listed({batch, rows, extents(rhs, columns)});
  const auto by_groups = [&](Ragged::Mode mode, const Integers& dims, std::ptrdiff_t at) {
    r.mode = mode, r.groups = sizes.empty() ? 0 : sizes.back();
    r.along = coordinates_along(dims, at), r.sizes = size_lists(batch, dims, at, sizes);
  };
  if (const auto row = place_in(l.rows, ragged[0]); row < std::ssize(l.rows)) {
    by_groups(Ragged::Mode::rows, rows, row);
    require(group.size() == 1 && extent(rhs, group) == r.groups, "a matrix for each group");
  } else {
    require(group.empty(), "rhs has groups where rows do");
    if (const auto term = place_in(lc, ragged[0]); term < std::ssize(lc)) {
      by_groups(Ragged::Mode::inner, inner, term);
      want.insert(want.begin(), r.groups);
    }
  }
  require(want == i.shape.dims, "the result has the groups, the batch, the rows and the columns");
  return r;
}

std::int64_t group_of(const std::int64_t* sizes, std::int64_t groups, std::int64_t coordinate) {
  std::int64_t end = 0;
  for (std::int64_t g = 0; g < groups; ++g)
    if (coordinate < (end += sizes[g])) return g;
  return -1;
}

}  // namespace plumb::hlo
