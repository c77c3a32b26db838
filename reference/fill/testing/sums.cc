#include "reference/fill/testing/sums.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "reference/fill/fill.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

using Index = std::map<char, std::int64_t>;

std::int64_t offset(const std::string& word, const Spec& spec, const Index& index) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < word.size(); ++d) at = at * spec.dims[d].size + index.at(word[d]);
  return at;
}

// Calls run() for every index over `word`, row-major.
template <class Run>
void odometer(const std::string& word, const std::map<char, std::int64_t>& sizes, Index& index, Run&& run) {
  if (word.empty()) return run();
  for (std::int64_t i = 0; i < sizes.at(word[0]); ++i) {
    index[word[0]] = i;
    odometer(word.substr(1), sizes, index, run);
  }
}

// The group of each row, -1 in a tail.
std::vector<std::int64_t> group_of_rows(const Case& c) {
  const auto* g = std::get_if<Grouped>(&c.op.kind);
  std::vector<std::int64_t> group;
  if (!g) return group;
  group.assign(c.op.operands[0].dims[0].size, -1);
  const auto runs = group_rows(*g, c.op.operands[0].dims[0].size);
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const Range& run : runs[i])
      std::fill(group.begin() + run.begin, group.begin() + run.end, static_cast<std::int64_t>(i));
  return group;
}

std::int64_t block_of(const std::vector<std::vector<std::int64_t>>& cuts, const std::string& summed,
                      const Index& index) {
  std::int64_t block = 0;
  for (std::size_t l = 0; l < cuts.size(); ++l) {
    const auto next = std::ranges::upper_bound(cuts[l], index.at(summed[l]));
    block = block * static_cast<std::int64_t>(cuts[l].size()) + (next - cuts[l].begin());
  }
  return block;
}

struct Sources {
  const Case& c;
  const std::vector<Tensor>& operands;
  Letters words;
};

// Adds the term at an index, of every pair of parts.
void add_products(const Sources& s, const Index& index, Term term, std::vector<Term>& terms) {
  const Spec &l = s.c.op.operands[0], &r = s.c.op.operands[1];
  const std::int64_t at_l = offset(s.words.operand[0], l, index), at_r = offset(s.words.operand[1], r, index);
  const std::int64_t left = parts(s.c.mesh, l), right = parts(s.c.mesh, r);
  for (std::int64_t p = 0; p < left; ++p)
    for (std::int64_t q = 0; q < right; ++q) {
      term.a = value(s.operands[0], p * elements(l) + at_l);
      term.b = value(s.operands[1], q * elements(r) + at_r);
      term.part = p * right + q;
      terms.push_back(term);
    }
}

}  // namespace

std::vector<std::vector<Term>> all_terms(const Case& c, const std::vector<Tensor>& operands) {
  std::vector<std::vector<Term>> all;
  if (is_reshard(c)) {
    const Spec& spec = c.op.operands[0];
    all.resize(elements(spec));
    for (std::int64_t e = 0; e < elements(spec); ++e)
      for (std::int64_t p = 0; p < parts(c.mesh, spec); ++p)
        all[e].push_back({value(operands[0], p * elements(spec) + e), 1, p, 0, p});
    return all;
  }
  const Sources sources{c, operands, letters(c.op)};
  const Letters& words = sources.words;
  const std::string summed = contracted(c.op);
  const auto cuts = contracted_cuts(c);
  const std::vector<std::int64_t> group = group_of_rows(c);
  std::map<char, std::int64_t> sizes;
  for (int i : {0, 1})
    for (std::size_t d = 0; d < words.operand[i].size(); ++d)
      sizes[words.operand[i][d]] = c.op.operands[i].dims[d].size;
  const auto* grouped = std::get_if<Grouped>(&c.op.kind);
  if (grouped) sizes['g'] = static_cast<std::int64_t>(grouped->sizes[0].size());
  Index index;
  odometer(words.out, sizes, index, [&] {
    std::vector<Term>& terms = all.emplace_back();
    if (grouped && words.out.find('g') == std::string::npos) {
      index['g'] = group[index['t']];
      if (index['g'] < 0) return;
    }
    std::int64_t position = 0;
    odometer(summed, sizes, index, [&] {
      const Term term{0, 0, block_of(cuts, summed, index), position++, 0};
      if (summed == "t" && grouped && group[index['t']] != index['g']) return;
      add_products(sources, index, term, terms);
    });
  });
  return all;
}

double added(DType dtype, std::vector<double> terms, std::mt19937_64& random) {
  if (terms.empty()) return 0;
  for (double& x : terms) x = rounded(dtype, x);
  while (terms.size() > 1) {
    std::swap(terms[random() % terms.size()], terms.back());
    const double last = terms.back();
    terms.pop_back();
    double& other = terms[random() % terms.size()];
    other = rounded(dtype, other + last);
  }
  return terms.front();
}

__int128 exact(const std::vector<Term>& terms, int exponent) {
  __int128 sum = 0;
  for (const Term& t : terms)
    sum += static_cast<__int128>(std::ldexp(static_cast<long double>(t.a) * t.b, -exponent));
  return sum;
}

}  // namespace plumb
