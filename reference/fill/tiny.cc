#include "reference/fill/tiny.h"

#include <algorithm>
#include <map>
#include <string>

#include "reference/words/letters.h"

namespace plumb {
namespace {

// Values as they are after they were quantized; of integers the words as they are.
struct Element {
  double real = 0;
  std::uint64_t word = 0;
};

Element element_of(const Tensor& t, std::int64_t i) {
  const std::uint64_t bits = load(t.dtype, t.bytes.data() + i * format(t.dtype).bytes);
  const double real = decode(t.dtype, bits);
  return {real, format(t.dtype).integer ? static_cast<std::uint64_t>(static_cast<std::int64_t>(real)) : bits};
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

// Each element of an operand, its parts put together.
std::vector<Element> whole(const Case& c, const Recipe& r, int operand) {
  const Source& source = r.sources[operand];
  std::vector<Element> all;
  for (std::int64_t p = 0; p < source.parts; ++p) {
    const Tensor part = written(r, operand, p);
    for (std::int64_t i = 0; i < source.elements; ++i) {
      const Element one = element_of(part, i);
      if (p == 0)
        all.push_back(one);
      else
        all[i] = combined(c.op.operands[operand].reduction, all[i], one);
    }
  }
  const auto parts = static_cast<double>(axes_size(c.mesh, c.op.operands[operand].averaged));
  for (Element& one : all) one.real /= parts;
  return all;
}

// A product's letters, their sizes, and the rows of each group.
struct Space {
  Letters words;
  std::map<char, std::int64_t> size;
  std::vector<std::vector<Range>> rows;

  std::int64_t index(const std::string& word, const std::map<char, std::int64_t>& at) const {
    std::int64_t i = 0;
    for (const char letter : word) i = i * size.at(letter) + at.at(letter);
    return i;
  }
  bool meets(const std::map<char, std::int64_t>& at) const {
    return rows.empty() || std::ranges::any_of(rows[at.at('g')], [&](const Range& run) {
             return run.begin <= at.at('t') && at.at('t') < run.end;
           });
  }
  std::int64_t volume() const {
    std::int64_t all = 1;
    for (const auto& [letter, n] : size) all = std::min(kFewTerms + 1, all * std::min(n, kFewTerms + 1));
    return all;
  }
};

Space space_of(const Case& c) {
  Space s{letters(c.op), {}, {}};
  for (int i : {0, 1})
    for (std::size_t d = 0; d < s.words.operand[i].size(); ++d)
      s.size[s.words.operand[i][d]] = c.op.operands[i].dims[d].size;
  for (std::size_t d = 0; d < s.words.out.size(); ++d) s.size[s.words.out[d]] = result(c).dims[d].size;
  if (const auto* g = std::get_if<Grouped>(&c.op.kind)) s.rows = group_rows(*g, s.size.at('t'));
  return s;
}

std::uint64_t bits_in(DType dtype, const Element& v) {
  const int width = 8 * format(dtype).bytes;
  if (format(dtype).integer) return v.word & (~std::uint64_t{0} >> (64 - width));
  return dtype == DType::e8m0 ? v.word : encode(dtype, v.real);
}

// Runs over all values of some letters: false after the last.
bool next(std::map<char, std::int64_t>& at, const std::string& some, const Space& s) {
  for (const char letter : some) {
    if (++at[letter] < s.size.at(letter)) return true;
    at[letter] = 0;
  }
  return false;
}

// The elements of a product, until one has other bits than the first; empty where no term is added.
std::vector<Element> product(const Case& c, const Recipe& r) {
  const Space s = space_of(c);
  const std::vector<Element> operand[] = {whole(c, r, 0), whole(c, r, 1)};
  std::map<char, std::int64_t> at;
  std::string summed;
  for (const auto& [letter, n] : s.size) {
    at[letter] = 0;
    if (s.words.out.find(letter) == std::string::npos) summed += letter;
  }
  std::vector<Element> sums;
  const DType dtype = result(c).dtype;
  bool any = false;
  do {
    Element& sum = sums.emplace_back();
    do {
      if (!s.meets(at)) continue;
      const Element &a = operand[0][s.index(s.words.operand[0], at)],
                    &b = operand[1][s.index(s.words.operand[1], at)];
      sum.real += a.real * b.real, sum.word += a.word * b.word, any = true;
    } while (next(at, summed, s));
  } while (bits_in(dtype, sums.back()) == bits_in(dtype, sums.front()) && next(at, s.words.out, s));
  return any ? sums : std::vector<Element>{};
}

// Rows and columns of a cell, less one: of one row and column the sign of both is that of their product.
std::int64_t signs(std::int64_t rows, std::int64_t columns) {
  return rows > 0 && columns > 0 ? rows + columns - 1 : 0;
}

// Of a grouped product the rows of each group, or the groups that have rows: the others add nothing.
std::int64_t bits_of_groups(const Case& c, const Grouped& g) {
  const Space s = space_of(c);
  std::int64_t all = 0;
  for (const std::vector<Range>& runs : s.rows) {
    std::int64_t rows = 0;
    for (const Range& run : runs) rows += run.size();
    if (rows > 0)
      all += g.form == Form::wgrad ? signs(s.size.at('k'), s.size.at('n'))
                                   : signs(rows, s.size.at(g.form == Form::fwd ? 'n' : 'k'));
  }
  return all;
}

// How many bits are drawn of a result, at least (kFew).
std::int64_t bits_drawn(const Case& c) {
  if (is_reshard(c)) return elements(result(c));
  if (const auto* g = std::get_if<Grouped>(&c.op.kind)) return bits_of_groups(c, *g);
  const Space s = space_of(c);
  std::int64_t cells = 1, rows = 1, columns = 1;
  for (const char letter : s.words.out) {
    const auto in = [&](int operand) { return s.words.operand[operand].find(letter) != std::string::npos; };
    (in(0) && in(1) ? cells : in(0) ? rows : columns) *= s.size.at(letter);
  }
  return cells * signs(rows, columns);
}

bool few(const Case& c) {
  const std::int64_t n = elements(result(c));
  if (is_resolve(c) || is_quantize(c) || n == 0) return false;
  for (const Spec& spec : c.op.operands)
    if (elements(spec) > 0 && parts(c.mesh, spec) > kFewTerms / elements(spec)) return false;
  const std::int64_t terms = is_reshard(c) ? n : space_of(c).volume();
  return terms > 0 && terms <= kFewTerms && bits_drawn(c) <= kFew;
}

}  // namespace

bool tells_nothing(const Case& c, const Recipe& r) {
  if (!few(c)) return false;
  Recipe kept = r;
  if (auto* coded = std::get_if<Coded>(&kept.data)) coded->kept = true;
  const std::vector<Element> wanted = is_reshard(c) ? whole(c, kept, 0) : product(c, kept);
  if (wanted.empty()) return false;
  const DType dtype = result(c).dtype;
  const std::uint64_t first = bits_in(dtype, wanted[0]);
  if (elements(result(c)) == 1) return first == 0 || decode(dtype, first) == 0;
  return std::ranges::all_of(wanted, [&](const Element& v) { return bits_in(dtype, v) == first; });
}

}  // namespace plumb
