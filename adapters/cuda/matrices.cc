#include "adapters/cuda/matrices.h"

#include <algorithm>
#include <array>

namespace plumb::cuda {
namespace {

bool contains_letter(const std::string& word, char letter) { return word.find(letter) != word.npos; }

// The letters by the part they play, without that of the groups.
struct Roles {
  std::string batch, rows, columns, summed;
};

std::string ungrouped(std::string word, bool grouped) {
  if (grouped) std::erase(word, 'g');
  return word;
}

using LetterSizes = std::array<std::int64_t, 128>;

std::int64_t volume_of(const std::string& letters, const LetterSizes& sizes) {
  std::int64_t n = 1;
  for (char letter : letters) n *= sizes[letter];
  return n;
}

// A block whose letters are a batch, then two groups; `turned`: the second group comes first.
std::optional<bool> turned(const std::string& word, const std::string& batch, const std::string& outer,
                           const std::string& inner) {
  if (word == batch + outer + inner) return false;
  if (word == batch + inner + outer) return true;
  return std::nullopt;
}

struct Shape {
  Roles roles;
  bool lhs_turned = false, rhs_turned = false, out_turned = false;
};

std::optional<Shape> shape_of(const LocalProduct& p) {
  const std::string lhs = ungrouped(p.lhs, p.grouped), rhs = ungrouped(p.rhs, p.grouped),
                    out = ungrouped(p.out, p.grouped);
  Shape s;
  for (char letter : out) {
    const bool left = contains_letter(lhs, letter), right = contains_letter(rhs, letter);
    (left && right ? s.roles.batch : left ? s.roles.rows : s.roles.columns) += letter;
  }
  for (char letter : lhs)
    if (!contains_letter(out, letter)) s.roles.summed += letter;
  const auto l = turned(lhs, s.roles.batch, s.roles.rows, s.roles.summed);
  const auto r = turned(rhs, s.roles.batch, s.roles.summed, s.roles.columns);
  const auto o = turned(out, s.roles.batch, s.roles.rows, s.roles.columns);
  if (!l || !r || !o) return std::nullopt;
  s.lhs_turned = *l, s.rhs_turned = *r, s.out_turned = *o;
  return s;
}

// What lies by rows, m by n, is by columns n by m. A result that lies by rows is the product of the
// transposed in the other order.
Gemm gemm_of(const Shape& s, const LetterSizes& sizes) {
  const std::int64_t m = volume_of(s.roles.rows, sizes), n = volume_of(s.roles.columns, sizes),
                     k = volume_of(s.roles.summed, sizes);
  const bool by_rows = !s.out_turned;
  Gemm g;
  g.batch = volume_of(s.roles.batch, sizes);
  g.swapped = by_rows;
  g.rows = by_rows ? n : m, g.columns = by_rows ? m : n, g.depth = k;
  const Matrix lhs{0, s.lhs_turned ? m : k, m * k, s.lhs_turned == by_rows};
  const Matrix rhs{0, s.rhs_turned ? k : n, k * n, s.rhs_turned == by_rows};
  g.left = by_rows ? rhs : lhs, g.right = by_rows ? lhs : rhs;
  g.out = {0, by_rows ? n : m, m * n, false};
  return g;
}

void take_sizes(const std::string& letters, const Slice& slice, LetterSizes& sizes) {
  for (std::size_t d = 0; d < letters.size(); ++d) sizes[letters[d]] = slice[d].size();
}

// How many elements are in all letters after the first one that is `letter`.
std::int64_t after(const std::string& letters, char letter, const LetterSizes& sizes) {
  return volume_of(letters.substr(letters.find(letter) + 1), sizes);
}

Range overlap(const Range& a, const Range& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

void move_by(Matrix& matrix, std::int64_t elements) { matrix.first += elements; }

struct Grouping {
  const LocalProduct& p;
  const ProductSlices& slices;
  Shape shape;
  LetterSizes sizes{};

  bool of_rows() const { return contains_letter(p.out, 't'); }
  Range rows() const { return slices.lhs[p.lhs.find('t')]; }
  Range groups() const { return of_rows() ? slices.rhs[p.rhs.find('g')] : slices.out[p.out.find('g')]; }

  Gemm one(std::int64_t group, const Range& run) const {
    LetterSizes of_run = sizes;
    of_run['t'] = run.size();
    Gemm g = gemm_of(shape, of_run);
    Matrix &lhs = g.swapped ? g.right : g.left, &rhs = g.swapped ? g.left : g.right;
    const std::int64_t row = run.begin - rows().begin, number = group - groups().begin;
    move_by(lhs, row * after(p.lhs, 't', sizes));
    if (of_rows()) {
      move_by(rhs, number * after(p.rhs, 'g', sizes));
      move_by(g.out, row * after(p.out, 't', sizes));
    } else {
      move_by(rhs, row * after(p.rhs, 't', sizes));
      move_by(g.out, number * after(p.out, 'g', sizes));
    }
    return g;
  }
};

Gemms grouped_gemms(const Grouping& grouping) {
  Gemms gemms;
  std::int64_t covered = 0;
  for (std::int64_t group = grouping.groups().begin; group < grouping.groups().end; ++group) {
    bool adds = false;
    for (const Range& all : grouping.p.rows[group]) {
      const Range run = overlap(all, grouping.rows());
      if (run.size() == 0) continue;
      gemms.all.push_back(grouping.one(group, run));
      gemms.all.back().adds = adds && !grouping.of_rows();
      adds = true, covered += run.size();
    }
    if (!adds && !grouping.of_rows()) gemms.zeroed = true;
  }
  if (grouping.of_rows() && covered < grouping.rows().size()) gemms.zeroed = true;
  return gemms;
}

}  // namespace

std::optional<Gemms> gemms_of(const LocalProduct& p, const ProductSlices& slices) {
  const std::optional<Shape> shape = shape_of(p);
  if (!shape) return std::nullopt;
  Grouping grouping{p, slices, *shape};
  take_sizes(p.lhs, slices.lhs, grouping.sizes);
  take_sizes(p.rhs, slices.rhs, grouping.sizes);
  take_sizes(p.out, slices.out, grouping.sizes);
  if (elements(slices.out) == 0) return Gemms{};
  Gemms gemms = p.grouped ? grouped_gemms(grouping) : Gemms{{gemm_of(*shape, grouping.sizes)}};
  for (const Gemm& g : gemms.all) gemms.zeroed = gemms.zeroed || g.depth == 0;
  std::erase_if(gemms.all, [](const Gemm& g) { return g.depth == 0; });
  return gemms;
}

}  // namespace plumb::cuda
