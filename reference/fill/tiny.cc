#include "reference/fill/tiny.h"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "reference/fill/at_index.h"
#include "reference/fill/unit.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

// Values as they are after they were quantized; of integers the words as they are.
struct Element {
  double real = 0;
  std::uint64_t word = 0;
};

Element element_of(DType dtype, std::uint64_t bits) {
  const double real = decode(dtype, bits);
  return {real, format(dtype).integer ? static_cast<std::uint64_t>(static_cast<std::int64_t>(real)) : bits};
}

Tensor written(const Recipe& r, int operand, std::int64_t part) {
  const Source& source = r.sources[operand];
  Tensor t = zeros(source.dtype, source.shape);
  Portion portion{operand, part, {}};
  for (const std::int64_t size : source.shape) portion.slice.push_back({0, size});
  write(r, portion, t.bytes.data());
  return t;
}

Element combined(Reduce how, const Element& a, const Element& b) {
  if (how == Reduce::sum) return {a.real + b.real, a.word + b.word};
  return (how == Reduce::max) == (a.real < b.real) ? b : a;
}

Element averaged(const Case& c, int operand, Element one) {
  one.real /= static_cast<double>(axes_size(c.mesh, c.op.operands[operand].averaged));
  return one;
}

// Each element of a product's operand: the sum of its parts.
std::vector<Element> whole(const Recipe& r, int operand) {
  const Source& source = r.sources[operand];
  std::vector<Element> all;
  for (std::int64_t p = 0; p < source.parts; ++p) {
    const Tensor part = written(r, operand, p);
    for (std::int64_t i = 0; i < source.elements; ++i) {
      const Element one = element_of(source.dtype, bits(part, i));
      if (p == 0)
        all.push_back(one);
      else
        all[i] = combined(Reduce::sum, all[i], one);
    }
  }
  return all;
}

// A product's letters and their sizes.
struct Space {
  Letters words;
  std::map<char, std::int64_t> size;

  std::int64_t volume() const {
    std::int64_t all = 1;
    for (const auto& [letter, n] : size) all = std::min(kFewTerms + 1, all * std::min(n, kFewTerms + 1));
    return all;
  }
};

Space space_of(const Case& c) {
  Space s{letters(c.op), {}};
  for (int i : {0, 1})
    for (std::size_t d = 0; d < s.words.operand[i].size(); ++d)
      s.size[s.words.operand[i][d]] = c.op.operands[i].dims[d].size;
  for (std::size_t d = 0; d < s.words.out.size(); ++d) s.size[s.words.out[d]] = result(c).dims[d].size;
  return s;
}

// The group of each row, -1 where it has none; empty where there are no groups.
std::vector<std::int64_t> groups_of_rows(const Case& c) {
  const auto* g = std::get_if<Grouped>(&c.op.kind);
  if (!g) return {};
  std::vector<std::int64_t> all(c.op.operands[0].dims[0].size, -1);
  std::int64_t group = 0;
  for (const std::vector<Range>& runs : group_rows(*g, std::ssize(all))) {
    for (const Range& run : runs) std::fill(all.begin() + run.begin, all.begin() + run.end, group);
    ++group;
  }
  return all;
}

std::uint64_t bits_in(DType dtype, const Element& v) {
  const int width = 8 * format(dtype).bytes;
  if (format(dtype).integer) return v.word & (~std::uint64_t{0} >> (64 - width));
  return dtype == DType::e8m0 ? v.word : encode(dtype, v.real);
}

// Where a term stands: the elements of both operands, its row and its group.
struct Term {
  std::int64_t operand[2] = {0, 0}, row = 0, group = 0;
};

// A letter that runs from 0 to its size.
struct Running {
  std::int64_t size = 1, at = 0;
  Term step;
};

Running running(const Space& s, char letter) {
  Running r{s.size.at(letter), 0, {}};
  for (int i : {0, 1}) {
    std::int64_t stride = 1;
    for (std::size_t d = s.words.operand[i].size(); d-- > 0; stride *= s.size.at(s.words.operand[i][d]))
      if (s.words.operand[i][d] == letter) r.step.operand[i] += stride;
  }
  r.step.row = letter == 't', r.step.group = letter == 'g';
  return r;
}

void move(Term& term, const Term& step, std::int64_t times) {
  for (int i : {0, 1}) term.operand[i] += times * step.operand[i];
  term.row += times * step.row, term.group += times * step.group;
}

// The next term over all values of some letters, the last of which varies fastest: false after the last.
bool next(std::vector<Running>& some, Term& term) {
  for (std::size_t i = some.size(); i-- > 0;) {
    Running& r = some[i];
    if (++r.at < r.size) return move(term, r.step, 1), true;
    move(term, r.step, 1 - r.size), r.at = 0;
  }
  return false;
}

// Elements that have the bits of the first.
struct SameBits {
  DType dtype;
  std::int64_t count = 0;
  std::uint64_t first = 0;

  // False where it has others.
  bool add(const Element& one) {
    const std::uint64_t bits = bits_in(dtype, one);
    if (count++ == 0) first = bits;
    return bits == first;
  }
  bool tell_nothing() const { return count == 1 ? first == 0 || decode(dtype, first) == 0 : count > 0; }
};

// False where no term is added.
bool product_tells_nothing(const Case& c, const Recipe& r) {
  const Space s = space_of(c);
  const std::vector<Element> operand[] = {whole(r, 0), whole(r, 1)};
  std::vector<Running> outer, inner;
  for (const char letter : s.words.out) outer.push_back(running(s, letter));
  for (const auto& [letter, n] : s.size)
    if (s.words.out.find(letter) == std::string::npos) inner.push_back(running(s, letter));
  const std::vector<std::int64_t> group = groups_of_rows(c);
  SameBits seen{result(c).dtype};
  bool any = false;
  Term term;
  do {
    Element sum;
    do {
      if (!group.empty() && group[term.row] != term.group) continue;
      const Element &a = operand[0][term.operand[0]], &b = operand[1][term.operand[1]];
      sum.real += a.real * b.real, sum.word += a.word * b.word, any = true;
    } while (next(inner, term));
    if (!seen.add(sum)) return false;
  } while (next(outer, term));
  return any && seen.tell_nothing();
}

// Rows and columns of a cell, less one: of one row and column the sign of both is that of their product.
std::int64_t signs(std::int64_t rows, std::int64_t columns) {
  return rows > 0 && columns > 0 ? rows + columns - 1 : 0;
}

// Of a grouped product the rows of each group, or the groups that have rows: the others add nothing.
std::int64_t bits_of_groups(const Case& c, const Grouped& g) {
  const Space s = space_of(c);
  std::int64_t all = 0;
  for (const std::vector<Range>& runs : group_rows(g, s.size.at('t'))) {
    std::int64_t rows = 0;
    for (const Range& run : runs) rows += run.size();
    if (rows > 0)
      all += g.form == Form::wgrad ? signs(s.size.at('k'), s.size.at('n'))
                                   : signs(rows, s.size.at(g.form == Form::fwd ? 'n' : 'k'));
  }
  return all;
}

// How many bits are drawn of a product, at least (kFew).
std::int64_t bits_drawn(const Case& c) {
  if (const auto* g = std::get_if<Grouped>(&c.op.kind)) return bits_of_groups(c, *g);
  const Space s = space_of(c);
  std::int64_t cells = 1, rows = 1, columns = 1;
  for (const char letter : s.words.out) {
    const auto in = [&](int operand) { return s.words.operand[operand].find(letter) != std::string::npos; };
    (in(0) && in(1) ? cells : in(0) ? rows : columns) *= s.size.at(letter);
  }
  return cells * signs(rows, columns);
}

// Whether an operand has few elements, all of which may take away what the other tells: parts of normal data
// that add up to 0, words that are multiples of a power of two modulo those of the result.
bool may_vanish(const Case& c) {
  return std::ranges::any_of(c.op.operands, [&](const Spec& spec) {
    return elements(spec) <= kFew && (wraps(c) || (c.fill == Fill::normal && parts(c.mesh, spec) > 1));
  });
}

bool few(const Case& c) {
  for (const Spec& spec : c.op.operands)
    if (elements(spec) > 0 && parts(c.mesh, spec) > kFewTerms / elements(spec)) return false;
  const std::int64_t terms = space_of(c).volume();
  return terms > 0 && terms <= kFewTerms && (bits_drawn(c) <= kFew || may_vanish(c));
}

// Elements of a reshard hang on their index alone: two are enough where they differ. Of many, so many parts
// are looked at as a product may have terms.
bool reshard_tells_nothing(const Case& c, const Recipe& r) {
  const std::optional<AtIndex> drawn = drawn_at(r, 0);
  if (!drawn) return false;
  const Source& source = r.sources[0];
  const auto one = [&](std::int64_t part, std::int64_t i) {
    return std::visit(
        [&](const auto& at) { return element_of(source.dtype, bits_at(at, source.dtype, part, i)); }, *drawn);
  };
  SameBits seen{result(c).dtype};
  for (std::int64_t i = 0; i < source.elements; ++i) {
    if (i > kFew && i > kFewTerms / source.parts) break;
    Element all = one(0, i);
    for (std::int64_t p = 1; p < source.parts; ++p)
      all = combined(c.op.operands[0].reduction, all, one(p, i));
    if (!seen.add(averaged(c, 0, all))) return false;
  }
  return seen.tell_nothing();
}

}  // namespace

bool tells_nothing(const Case& c, const Recipe& r) {
  if (is_resolve(c) || is_quantize(c) || elements(result(c)) == 0) return false;
  if (is_reshard(c)) return reshard_tells_nothing(c, r);
  if (!few(c)) return false;
  Recipe kept = r;
  if (auto* coded = std::get_if<Coded>(&kept.data)) coded->kept = true;
  return product_tells_nothing(c, kept);
}

}  // namespace plumb
