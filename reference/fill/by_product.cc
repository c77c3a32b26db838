#include "reference/fill/by_product.h"

#include <algorithm>

#include "reference/fill/terms.h"

namespace plumb {
namespace {

// Where a coordinate stands in the cuts of its contracted letter.
struct Locus {
  std::int64_t block = 0, size = 1, term = 0;
};

Locus locate(const std::vector<std::int64_t>& cuts, std::int64_t at) {
  const auto next = std::ranges::upper_bound(cuts, at);
  return {next - cuts.begin() - 1, *next - *(next - 1), at - *(next - 1)};
}

// The spot of an element, collected dimension by dimension.
struct Walk {
  const Product& product;
  const std::vector<DimRole>& roles;
  std::vector<Locus> loci;  // by contracted letter
  std::int64_t row = 0;     // of a grouped matmul
  Spot spot;
};

void begin(Walk& w) { w.spot = Spot{}; }

void step_into(Walk& w, std::size_t dim, std::int64_t at) {
  const DimRole& role = w.roles[dim];
  w.spot.cell += role.cell * at;
  w.spot.free += role.free * at;
  if (role.rows) {
    const auto& all = w.product.stretches;
    const Stretch& s =
        *(std::ranges::upper_bound(all, at, {}, [](const Stretch& x) { return x.rows.begin; }) - 1);
    w.row = at;
    w.spot.cell = s.cell;
    if (role.contracted >= 0) w.loci[0] = {s.block, s.rows.size(), at - s.rows.begin};
  } else if (role.contracted >= 0) {
    w.loci[role.contracted] = locate(w.product.cuts[role.contracted], at);
  }
}

// The block and the place in it, from those of every letter; `along` is the letter of the run.
void settle(Walk& w, int along) {
  Spot& s = w.spot;
  s.block = s.term = s.step = 0, s.volume = 1;
  for (std::size_t l = 0; l < w.loci.size(); ++l) {
    const Locus& locus = w.loci[l];
    s.block = s.block * static_cast<std::int64_t>(w.product.cuts[l].size() - 1) + locus.block;
    s.term = s.term * locus.size + locus.term;
    s.step = s.step * locus.size + (static_cast<int>(l) == along);
    s.volume *= locus.size;
  }
}

// Elements [range.begin, range.end) of the last dimension, the others being where `walk` is.
void write_line(Walk walk, Terms& terms, Range range, double* out) {
  const std::size_t last = walk.roles.size() - 1;
  const DimRole& role = walk.roles[last];
  if (walk.spot.cell < 0) {
    walk.spot.free = range.begin, walk.spot.term = walk.row;
    return along_tail(terms, walk.spot, range.size(), out);
  }
  const Spot before = walk.spot;
  for (std::int64_t at = range.begin; at < range.end;) {
    walk.spot = before;
    step_into(walk, last, at);
    settle(walk, role.contracted);
    std::int64_t count = 1;  // a run of batch elements has a cell for each
    if (role.contracted >= 0) {
      const Locus& locus = walk.loci[role.contracted];
      count = std::min(range.end - at, locus.size - locus.term);
      along_contracted(terms, walk.spot, count, out);
    } else {
      if (role.free) count = range.end - at;
      along_free(terms, walk.spot, count, out);
    }
    at += count, out += count;
  }
}

}  // namespace

void write_product(const Recipe& r, const Product& p, const Portion& portion, std::byte* out) {
  if (elements(portion.slice) == 0) return;
  const DType dtype = r.sources[portion.operand].dtype;
  Terms terms(r, p, portion);
  Walk walk{p, p.roles[portion.operand], std::vector<Locus>(p.cuts.size()), 0, {}};
  double line[2048];
  if (portion.slice.empty()) {
    along_free(terms, {}, 1, line);
    return encode(dtype, line, 1, out);
  }
  const std::size_t last = portion.slice.size() - 1;
  const Range inner = portion.slice[last];
  std::vector<std::int64_t> at(last);
  for (std::size_t d = 0; d < last; ++d) at[d] = portion.slice[d].begin;
  for (;;) {
    begin(walk);
    for (std::size_t d = 0; d < last; ++d) step_into(walk, d, at[d]);
    for (std::int64_t i = inner.begin; i < inner.end; i += 2048) {
      const Range range{i, std::min(inner.end, i + 2048)};
      write_line(walk, terms, range, line);
      encode(dtype, line, range.size(), out);
      out += range.size() * format(dtype).bytes;
    }
    std::size_t d = last;
    while (d > 0 && ++at[d - 1] == portion.slice[d - 1].end) --d, at[d] = portion.slice[d].begin;
    if (d == 0) return;
  }
}

}  // namespace plumb
