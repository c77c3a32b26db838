#include "reference/fill/coded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "reference/fill/emit.h"
#include "reference/fill/recipe.h"
#include "reference/fill/unit.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

enum CodedKey : std::uint64_t { kLine = 60, kSmall, kLarge, kUnit, kPartWithValue };

constexpr std::int64_t kMostSmall = 7;  // of a small value

// The line of each stretch of equal tiles: an index of the operand's parity, drawn.
std::vector<std::int64_t> lines(const std::vector<std::int64_t>& tile, std::uint64_t key, int operand) {
  std::vector<std::int64_t> line(tile.size(), -1);
  for (std::size_t begin = 0, end = 0; begin < tile.size(); begin = end) {
    while (end < tile.size() && tile[end] == tile[begin]) ++end;
    if (tile[begin] < 0) continue;
    const std::size_t first = begin + (begin + operand) % 2;
    if (first >= end) continue;
    const auto count = static_cast<std::int64_t>((end - first + 1) / 2);
    std::fill(line.begin() + begin, line.begin() + end,
              static_cast<std::int64_t>(first) + 2 * below(mix(key + kGolden * begin), count));
  }
  return line;
}

// A tile that comes back, of a group in several lists, keeps its first line.
void keep_first(const std::vector<std::int64_t>& tile, std::vector<std::int64_t>& line,
                std::vector<char>& has) {
  std::vector<std::int64_t> first(has.size(), -1);
  for (std::size_t i = 0; i < tile.size(); ++i)
    if (tile[i] >= 0 && first[tile[i]] < 0) first[tile[i]] = line[i];
  for (std::size_t i = 0; i < tile.size(); ++i)
    if (tile[i] >= 0) line[i] = first[tile[i]], has[tile[i]] = line[i] >= 0;
}

Coded::Operand operand_of(const Case& c, int i) {
  Coded::Operand o;
  const Spec& spec = c.op.operands[i];
  o.scheme = spec.scheme;
  o.shape = shape(spec);
  o.tiles = *tiles(c.op, i);
  o.along = block_dim(c.op, i);
  o.parts = parts(c.mesh, spec);
  for (const auto& along : o.tiles.along) o.members.push_back(members(along, {}));
  if (o.along < 0) return o;
  o.has_line.assign(o.tiles.count[o.along], 0);
  o.line.assign(o.shape[o.along], -1);
  if (o.scheme == Scheme::none) return o;
  o.line = lines(o.tiles.along[o.along], key(data_seed(c), i, kLine), i);
  keep_first(o.tiles.along[o.along], o.line, o.has_line);
  return o;
}

// The most terms of one sum, and how many of them lie on a line of an operand.
struct Count {
  __int128 all = 1, lines = 0;
};
Count count(const Case& c, const Coded::Operand& o, int i) {
  Count n;
  for (int d : contracted_dims(c.op, i)) {
    if (d != o.along) n.all *= o.shape[d];
  }
  std::int64_t lines = 0;
  for (std::size_t k = 0; k < o.line.size(); ++k) lines += o.line[k] == static_cast<std::int64_t>(k);
  n.lines = n.all * lines;
  n.all *= o.shape[o.along];
  return n;
}

// Of a tile with one scale and no line the element drawn for it is kMostSmall units large.
bool is_top(const Coded::Operand& o, bool has_line) {
  return !has_line && o.scheme != Scheme::none && !in_blocks(o.scheme);
}

// The most terms of one sum of such a tile: there it may meet a large value.
__int128 lineless(const Case& c, const Coded::Operand& o, int i) {
  __int128 others = 1;
  for (int d : contracted_dims(c.op, i)) others *= d == o.along ? 1 : o.shape[d];
  std::vector<std::int64_t> terms(o.has_line.size());
  for (const std::int64_t tile : o.tiles.along[o.along])
    if (tile >= 0 && is_top(o, o.has_line[tile])) ++terms[tile];
  return others * (terms.empty() ? 0 : *std::ranges::max_element(terms));
}

// The largest sum of |a b| in units of the finest tile.
__int128 largest_sum(const Case& c, const Coded& d) {
  if (d.operand[0].along < 0) return kMostSmall * kMostSmall;  // no sum: each element is one product
  __int128 sum = 0, factor = 1, top = 0;
  for (int i : {0, 1}) {
    const Count n = count(c, d.operand[i], i);
    sum += n.lines * (static_cast<__int128>(kMostSmall) << d.large);
    if (i == 0) sum += n.all * kMostSmall * kMostSmall;
    if (in_blocks(d.operand[i].scheme) && d.varies) factor *= 2;
    top = std::max(
        top, lineless(c, d.operand[i], i) * kMostSmall * (static_cast<__int128>(kMostSmall) << d.large));
  }
  return std::max(sum, top) * factor;
}

bool is_split(const Case& c) {
  std::int64_t n = 1;
  for (int i : {0, 1}) {
    n *= parts(c.mesh, c.op.operands[i]);
    for (int d : contracted_dims(c.op, i)) n *= axes_size(c.mesh, c.op.operands[i].dims[d].axes);
  }
  for (const Spec& spec : c.op.chain) n *= parts(c.mesh, spec);
  return n > 1;
}

bool e5(Scheme s) { return s != Scheme::none && codes_of(s) == DType::f8e5m2; }

// Where an element lies.
struct Spotted {
  std::int64_t tile = 0, along = 0;  // its tile; its index and its tile along the contracted dimension
  std::int64_t part = 0;
  bool drawn = true;   // in every other dimension the one of its tile
  bool chosen = true;  // in this one too
};

Spotted place(const Coded::Operand& o, std::uint64_t key, std::int64_t index) {
  std::vector<std::int64_t> at(o.shape.size());
  for (std::size_t d = at.size(); d-- > 0; index /= o.shape[d]) at[d] = index % o.shape[d];
  Spotted p;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const std::int64_t along = o.tiles.along[d][at[d]];
    if (along < 0) return {-1, 0, 0, false};
    p.tile = p.tile * o.tiles.count[d] + along;
    if (static_cast<int>(d) == o.along) p.along = at[d], p.part = along;
  }
  const std::uint64_t here = mix(key + kGolden * static_cast<std::uint64_t>(p.tile));
  for (std::size_t d = 0; d < at.size(); ++d)
    (static_cast<int>(d) == o.along ? p.chosen : p.drawn) &= drawn(o.members[d], at[d], mix(here + d));
  return p;
}

// The large value of a tile as it is given; quantized it is 7 or 4 times a power of two. Rounded down, the
// scale of the second kind would clip it.
double large_value(const Coded& c, const Coded::Operand& o, std::uint64_t random) {
  if (!in_blocks(o.scheme) || random % 2 == 0) return std::ldexp(7.0, c.large);
  return std::ldexp(c.kept ? 64.0 : 63.0, c.large - 4);
}

// What is taken away from a small value: nothing that its codes would round to another integer.
double fraction(const Coded& c, bool has_line, std::uint64_t random) {
  if (!has_line) return 1.0 / 32;
  if (c.large < 15) return 1.0 / 16;
  constexpr double all[] = {5.0 / 16, 6.0 / 16, 7.0 / 16, -5.0 / 16, -6.0 / 16};
  return all[random % 5];
}

// The exponent of the unit of a tile.
int unit_of(const Coded& c, const Coded::Operand& o, std::uint64_t key, std::int64_t tile) {
  if (o.scheme == Scheme::none) return o.unit;
  const std::uint64_t random = mix(key + kGolden * static_cast<std::uint64_t>(tile));
  if (in_blocks(o.scheme)) return o.unit - (c.varies ? static_cast<int>(random % 2) : 0);
  return o.unit + (c.grouped ? static_cast<int>(random % 3) : 0);
}

// The exponents of an operand's unit for which all its values are normal numbers; of one in parts, also where
// they are sent and added up before it is multiplied.
struct Span {
  int low = 0, high = 0;
};
Span span(const Case& c, const Spec& spec) {
  const bool in_parts = parts(c.mesh, spec) > 1;
  int low = -64, top = 84;
  for (DType dtype : {spec.dtype, in_parts ? c.wire : spec.dtype, in_parts ? c.acc : spec.dtype}) {
    low = std::max(low, format(dtype).min_exponent);
    top = std::min(top, std::ilogb(format(dtype).largest));
  }
  if (spec.scheme == Scheme::none) return {low, std::min(top - 3, 64)};
  return {low + 6, top - 20};
}

// The exponent of both units together: 2^-8 of what is quantized, less where some format of the sums holds
// less. Of 8 bits the smallest normal number is not far below the largest: sums go as high as they may.
int exponent_of_sums(const Case& c, const Coded& d) {
  int top = 1 << 20, most = 0;
  for (DType dtype : {c.acc, c.wire, result(c).dtype}) top = std::min(top, std::ilogb(format(dtype).largest));
  for (__int128 n = d.terms; n > 0; n /= 2) ++most;
  int usual = 0;
  for (const Coded::Operand& o : d.operand) {
    if (o.scheme == Scheme::none) continue;
    usual -= 8;
    if (d.grouped && !in_blocks(o.scheme)) most += 2;
  }
  const bool bytes = std::min({format(c.wire).bytes, format(result(c).dtype).bytes}) == 1;
  return bytes ? top - most : std::min(usual, top - most);
}

void place_units(const Case& c, Coded& d) {
  int left = exponent_of_sums(c, d);
  for (Coded::Operand& o : d.operand) {
    o.unit = o.scheme == Scheme::none ? 0 : -8;
    left -= o.unit;
  }
  for (int i : {0, 1}) {
    const Span s = span(c, c.op.operands[i]);
    const int moved = std::clamp(d.operand[i].unit + left, s.low, s.high) - d.operand[i].unit;
    d.operand[i].unit += moved, left -= moved;
  }
}

bool is_contracted(const Case& c, int operand, std::size_t d) {
  return std::ranges::count(contracted_dims(c.op, operand), static_cast<int>(d)) > 0;
}

// Whether each sum has a large value of the operand: its tiles are all that is contracted, or lines of it.
bool is_everywhere(const Case& c, const Coded& d, int i) {
  const Coded::Operand& o = d.operand[i];
  if (o.scheme == Scheme::none) return false;
  for (std::size_t dim = 0; dim < o.members.size(); ++dim)
    for (std::size_t at = 0; at < o.members[dim].count.size() && !is_contracted(c, i, dim); ++at)
      if (o.tiles.along[dim][at] >= 0 && o.members[dim].count[at] > 1) return false;
  return true;
}

// Whether the last digit of a sum that has a large value is more than a small one.
bool hides_small_terms(const Case& c, const Coded& d) {
  const int digits = std::min(format(carried(c)).digits, format(result(c).dtype).digits);
  return d.large + 3 - digits > std::ilogb(kMostSmall);
}

// Where the pieces of a contracted dimension begin, as both operands lie, and its end.
std::set<std::int64_t> cut(const Case& c, std::size_t contracted) {
  std::set<std::int64_t> at;
  for (int i : {0, 1}) {
    const Dim& dim = c.op.operands[i].dims[contracted_dims(c.op, i)[contracted]];
    for (std::int64_t p = 0; p < axes_size(c.mesh, dim.axes); ++p)
      at.insert(piece(c.mesh, dim, c.rule, p).begin);
    at.insert(dim.size);
  }
  return at;
}

// Whether some device adds terms of which none is large, while others have large ones in every sum. A line is
// of all that is contracted but for the last dimension; of a tile that is more one element is large.
bool has_small_share(const Case& c, const Coded& d) {
  if (d.operand[0].along < 0) return false;
  const std::size_t last = contracted_dims(c.op, 0).size() - 1;
  const std::array everywhere{is_everywhere(c, d, 0), is_everywhere(c, d, 1)};
  if (!everywhere[0] && !everywhere[1]) return false;
  for (std::size_t l = 0; l < last; ++l)
    for (int i : {0, 1})
      if (everywhere[i] && !in_blocks(d.operand[i].scheme) && cut(c, l).size() > 2) return true;
  std::int64_t begin = 0;
  for (const std::int64_t end : cut(c, last)) {
    bool small = end > begin;
    for (; begin < end; ++begin)
      for (const Coded::Operand& o : d.operand) small = small && o.line[begin] != begin;
    if (small) return true;
  }
  return false;
}

void choose_sizes(const Case& c, Coded& d) {
  if (e5(d.operand[0].scheme) || e5(d.operand[1].scheme)) d.large = 6;
  if (has_small_share(c, d))  // of which, rounded beside a large value, nothing is left
    for (const int less : {6, 1})
      if (hides_small_terms(c, d)) d.large = std::min(d.large, less);
  const auto fits = [&] { return (d.terms = largest_sum(c, d)) <= capacity(c.acc); };
  if (fits()) return;
  d.varies = false;
  if (fits()) return;
  d.large = std::min(d.large, 6), d.varies = true;
  if (fits()) return;
  d.varies = false;
  if (fits()) return;
  d.large = 1;  // where the bound judges, a share that is small beside another could not be missed
  fits();
}

}  // namespace

DType carried(const Case& c) {
  DType least = c.wire;
  for (const Spec& spec : c.op.chain)
    if (parts(c.mesh, spec) > 1 && format(spec.dtype).digits < format(least).digits) least = spec.dtype;
  return least;
}

Coded coded(const Case& c) {
  Coded d;
  for (int i : {0, 1}) d.operand[i] = operand_of(c, i);
  for (int i : {0, 1}) {
    const Coded::Operand& other = d.operand[1 - i];
    for (std::size_t k = 0; k < other.line.size(); ++k)
      d.operand[i].opposite.push_back(other.line[k] == static_cast<std::int64_t>(k));
  }
  d.grouped = std::holds_alternative<Grouped>(c.op.kind);
  d.split = is_split(c);
  choose_sizes(c, d);
  place_units(c, d);
  return d;
}

void write_run(const Recipe& r, const Coded& c, const Run& run, std::byte* out) {
  const Coded::Operand& o = c.operand[run.operand];
  const std::uint64_t small = key(r.seed, run.operand, kSmall), large = key(r.seed, run.operand, kLarge),
                      units = key(r.seed, run.operand, kUnit),
                      parts = key(r.seed, run.operand, kPartWithValue);
  emit(r.sources[run.operand].dtype, run.count, out, [&](std::int64_t i) {
    const Spotted p = place(o, large, run.begin + i);
    if (p.tile < 0) return std::nan("");
    const std::uint64_t random = mix(small + kGolden * static_cast<std::uint64_t>(run.begin + i));
    if (o.parts > 1 && below(mix(parts + random), o.parts) != run.part) return 0.0;
    const double unit = std::ldexp(static_cast<double>(sign_of(random)), unit_of(c, o, units, p.tile));
    const bool has = o.along >= 0 && o.has_line[p.part];
    if (has && o.scheme != Scheme::none && p.drawn && o.line[p.along] == p.along)
      return unit * large_value(c, o, mix(large + kGolden * static_cast<std::uint64_t>(p.tile)) >> 8);
    if (is_top(o, has) && p.drawn && p.chosen) return unit * kMostSmall;
    const bool one = o.along >= 0 && o.opposite[p.along];
    const std::int64_t most = c.large < 15 && has ? kMostSmall : kMostSmall - 1;
    const double whole =
        one ? 1 : 1 + static_cast<double>(below(random, o.scheme != Scheme::none ? most : kMostSmall));
    return unit * (o.scheme != Scheme::none && !c.kept ? whole + fraction(c, has, mix(random)) : whole);
  });
}

}  // namespace plumb
