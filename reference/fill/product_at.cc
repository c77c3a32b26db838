#include "reference/fill/product_at.h"

#include <algorithm>

#include "reference/fill/terms.h"

namespace plumb {
namespace {

constexpr std::int64_t kMostMatchings = 1 << 16;

std::int64_t cells_of(const Product& p, const ProductAt& at, const Source& source) {
  std::int64_t cells = 1;
  for (int d = 0; d < at.dims; ++d)
    if (at.dim[d].role.cell > 0) cells *= source.shape[d];
  for (const Stretch& s : p.stretches) cells = std::max(cells, s.cell + 1);
  return cells;
}

// The block with this number, by its letters' blocks, the last of which goes round first.
std::int64_t volume_of_box(const Product& p, std::int64_t block) {
  std::int64_t volume = 1;
  for (std::size_t l = p.cuts.size(); l-- > 0;) {
    const auto n = std::ssize(p.cuts[l]) - 1;
    const std::int64_t at = block % n;
    volume *= p.cuts[l][at + 1] - p.cuts[l][at], block /= n;
  }
  return volume;
}

void add_matching(ProductTables& t, std::int64_t cell, std::int64_t block, std::int64_t volume) {
  t.matchings[cell * t.at.blocks + block] = matching(volume, matching_key(t.at.terms, cell, block));
}

}  // namespace

std::optional<ProductTables> product_tables(const Recipe& r, const Portion& portion) {
  const auto* p = std::get_if<Product>(&r.data);
  if (!p || portion.slice.size() > ProductAt::kMost || p->cuts.size() > ProductAt::kMost) return std::nullopt;
  ProductTables t;
  ProductAt& at = t.at;
  at.terms = terms_of(r, *p, portion.operand, portion.part);
  at.dims = static_cast<int>(portion.slice.size()), at.letters = static_cast<int>(p->cuts.size());
  for (int d = 0; d < at.dims; ++d) at.dim[d] = {portion.slice[d], p->roles[portion.operand][d]};
  for (int l = 0; l < at.letters; ++l) {
    at.cuts[l] = {std::ssize(t.numbers), std::ssize(p->cuts[l])};
    t.numbers.insert(t.numbers.end(), p->cuts[l].begin(), p->cuts[l].end());
  }
  at.terms.blocks_of_cell.at = nullptr, at.terms.long_block.at = nullptr;
  t.stretches = p->stretches, at.stretch_count = std::ssize(p->stretches);
  at.blocks = std::max<std::int64_t>(1, std::ranges::max(p->blocks_of_cell));
  const std::int64_t cells = cells_of(*p, at, r.sources[portion.operand]);
  if (cells > kMostMatchings / at.blocks) return std::nullopt;
  t.matchings.resize(cells * at.blocks);
  if (p->blocks_of_cell.size() > 1 ||
      (!p->roles[0].empty() && p->roles[0][0].rows && p->roles[0][0].contracted >= 0)) {
    for (const Stretch& s : p->stretches)
      if (s.cell >= 0) add_matching(t, s.cell, s.block, s.rows.size());
  } else {
    for (std::int64_t cell = 0; cell < cells; ++cell)
      for (std::int64_t block = 0; block < at.blocks; ++block)
        add_matching(t, cell, block, volume_of_box(*p, block));
  }
  // Behind the cuts: what differs by cell.
  t.numbers.insert(t.numbers.end(), p->blocks_of_cell.begin(), p->blocks_of_cell.end());
  t.numbers.insert(t.numbers.end(), p->long_block.begin(), p->long_block.end());
  return t;
}

ProductAt ProductTables::lying(const std::int64_t* numbers_there, const Stretch* stretches_there,
                               const Matching* matchings_there) const {
  ProductAt there = at;
  there.numbers = numbers_there, there.stretches = stretches_there, there.matchings = matchings_there;
  const std::int64_t by_cell =
      std::ssize(numbers) - at.terms.blocks_of_cell.count - at.terms.long_block.count;
  there.terms.blocks_of_cell.at = numbers_there + by_cell;
  there.terms.long_block.at = there.terms.blocks_of_cell.at + at.terms.blocks_of_cell.count;
  return there;
}

}  // namespace plumb
