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

// The elements of a product; empty where no term is added.
std::vector<Element> product(const Case& c, const Recipe& r) {
  const Space s = space_of(c);
  const std::vector<Element> operand[] = {whole(c, r, 0), whole(c, r, 1)};
  std::vector<Element> sums(elements(result(c)));
  std::map<char, std::int64_t> at;
  for (const auto& [letter, n] : s.size) at[letter] = 0;
  bool any = false;
  for (std::int64_t left = s.volume(); left > 0; --left) {
    if (s.meets(at)) {
      const Element &a = operand[0][s.index(s.words.operand[0], at)],
                    &b = operand[1][s.index(s.words.operand[1], at)];
      Element& sum = sums[s.index(s.words.out, at)];
      sum.real += a.real * b.real, sum.word += a.word * b.word, any = true;
    }
    for (auto& [letter, i] : at) {
      if (++i < s.size.at(letter)) break;
      i = 0;
    }
  }
  return any ? sums : std::vector<Element>{};
}

std::uint64_t bits_in(DType dtype, const Element& v) {
  const int width = 8 * format(dtype).bytes;
  if (format(dtype).integer) return v.word & (~std::uint64_t{0} >> (64 - width));
  return dtype == DType::e8m0 ? v.word : encode(dtype, v.real);
}

// Of a grouped product those of rows of a group, or of groups that have rows: the others are 0.
std::int64_t elements_with_terms(const Case& c) {
  const std::int64_t n = elements(result(c));
  const auto* g = std::get_if<Grouped>(&c.op.kind);
  if (!g || n == 0) return n;
  std::int64_t groups = 0, rows = 0;
  for (const std::vector<Range>& runs : space_of(c).rows) {
    std::int64_t here = 0;
    for (const Range& run : runs) here += run.size();
    groups += here > 0, rows += here;
  }
  return n / result(c).dims[0].size * (g->form == Form::wgrad ? groups : rows);
}

bool few(const Case& c) {
  const std::int64_t n = elements(result(c));
  if (is_resolve(c) || is_quantize(c) || n == 0 || elements_with_terms(c) > kFew) return false;
  std::int64_t all = is_reshard(c) ? n : space_of(c).volume();
  for (const Spec& spec : c.op.operands) {
    const std::int64_t parts_of = parts(c.mesh, spec);
    if (elements(spec) > kFewTerms || parts_of > kFewTerms) return false;
    all *= parts_of;
  }
  return all > 0 && all <= kFewTerms;
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
  if (wanted.size() == 1) return first == 0 || decode(dtype, first) == 0;
  return std::ranges::all_of(wanted, [&](const Element& v) { return bits_in(dtype, v) == first; });
}

}  // namespace plumb
