#include "harness/run/own_terms.h"

#include <algorithm>
#include <map>


namespace plumb {
namespace {

using At = std::vector<std::int64_t>;

}  // namespace

Tensor zero_operand(const Case& c, int operand) {
  const Spec& spec = c.op.operands[operand];
  At sizes = shape(spec);
  if (!spec.unfinished.empty()) sizes.insert(sizes.begin(), parts(c.mesh, spec));
  return zeros(spec.dtype, std::move(sizes));
}

void set_value(Tensor& t, std::int64_t element, double value) {
  store(t.dtype, t.bytes.data() + element * format(t.dtype).bytes, encode(t.dtype, value));
}

At weighted_coordinates(const At& shape, const At& weights) {
  At all{0};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    At longer;
    longer.reserve(all.size() * shape[d]);
    for (std::int64_t sum : all)
      for (std::int64_t x = 0; x < shape[d]; ++x) longer.push_back(sum + x * weights[d]);
    all = std::move(longer);
  }
  return all;
}

namespace {

// The rows of a case, and how long each is; of each element of the first operand the row, -1 where it is of none, and the
// term; and of each element of the result the row, -1 where it is of none.
struct Rows {
  At lengths, row, term, result_row;
};

// Letters of the first operand that the result has say the row, the others the term.
Rows rows_by_letters(const Case& c, const std::string& lhs, const std::string& out) {
  const At left = shape(c.op.operands[0]), whole = shape(result(c));
  At row(left.size()), term(left.size()), result_row(whole.size());
  std::int64_t count = 1, length = 1;
  for (std::size_t d = lhs.size(); d-- > 0;) {
    const auto place = out.find(lhs[d]);
    if (place == std::string::npos) {
      term[d] = length, length *= left[d];
    } else {
      row[d] = result_row[place] = count, count *= left[d];
    }
  }
  return {At(count, length), weighted_coordinates(left, row), weighted_coordinates(left, term), weighted_coordinates(whole, result_row)};
}

// Of rows of a group that are added up, one for each column.
Rows rows_of_groups(const Case& c, const Grouped& grouped) {
  const At left = shape(c.op.operands[0]);
  const auto groups = group_rows(grouped, left[0]);
  Rows rows{{}, At(elements(left), -1), At(elements(left)), {}};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::int64_t term = 0;
    for (const Range& run : groups[g])
      for (std::int64_t t = run.begin; t < run.end; ++t, ++term)
        for (std::int64_t k = 0; k < left[1]; ++k)
          rows.row[t * left[1] + k] = static_cast<std::int64_t>(g) * left[1] + k, rows.term[t * left[1] + k] = term;
    rows.lengths.insert(rows.lengths.end(), left[1], term);
  }
  rows.result_row = weighted_coordinates(shape(result(c)), {left[1], 1, 0});
  return rows;
}

Rows rows_of(const Case& c) {
  if (const auto* einsum = std::get_if<Einsum>(&c.op.kind)) return rows_by_letters(c, einsum->lhs, einsum->out);
  const auto& grouped = std::get<Grouped>(c.op.kind);
  if (grouped.form == Form::wgrad) return rows_of_groups(c, grouped);
  Rows rows = rows_by_letters(c, "tk", "tn");
  const std::int64_t all = c.op.operands[0].dims[0].size, columns = result(c).dims[1].size;
  std::vector<bool> of_a_group(all);
  for (const auto& runs : group_rows(grouped, all))
    for (const Range& run : runs) std::fill(of_a_group.begin() + run.begin, of_a_group.begin() + run.end, true);
  for (std::int64_t i = 0; i < std::ssize(rows.result_row); ++i)
    if (!of_a_group[i / columns]) rows.result_row[i] = -1;
  return rows;
}

std::int64_t length_of(const FewTerms& sum) {
  return std::ranges::max_element(sum.terms, {}, &FewTerms::Term::at)->at + 1;
}

// Whether what comes is the sum of terms, rounded as often as they are added and once to the result's dtype.
bool shows_sums(const Case& c) {
  constexpr std::int64_t most = 1 << 24;
  for (const Spec* spec : {&c.op.operands[0], &c.op.operands[1], &result(c)})
    if (elements(shape(*spec)) > most) return false;
  return (c.wire == DType::f32 || devices(c.mesh) == 1) && result(c).unfinished.empty();
}

}  // namespace

std::optional<OwnTerms> own_terms(const Case& c, int next) {
  if (!shows_sums(c)) return std::nullopt;
  const Rows rows = rows_of(c);
  const std::vector<FewTerms> all = probes(c.op.operands[0].dtype);
  OwnTerms own;
  std::map<std::int64_t, std::vector<const FewTerms*>> fits;  // by length
  At chosen(rows.lengths.size(), -1);
  for (std::size_t r = 0; r < rows.lengths.size(); ++r) {
    auto [at, first] = fits.try_emplace(rows.lengths[r]);
    for (std::size_t i = 0; first && i < all.size(); ++i)
      if (length_of(all[i]) <= rows.lengths[r]) at->second.push_back(&all[i]);
    if (at->second.empty()) continue;
    chosen[r] = std::ssize(own.sums);
    own.sums.push_back(*at->second[(r + next * rows.lengths.size()) % at->second.size()]);
  }
  if (own.sums.empty()) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t count = elements(shape(c.op.operands[i]));
    own.operands.push_back(zero_operand(c, static_cast<int>(i)));
    for (std::int64_t e = 0; i == 1 && e < count; ++e) set_value(own.operands[1], e, 1);
  }
  for (std::int64_t e = 0; e < std::ssize(rows.row); ++e) {
    if (rows.row[e] < 0 || chosen[rows.row[e]] < 0) continue;
    for (const auto& [at, value] : own.sums[chosen[rows.row[e]]].terms)
      if (at == rows.term[e]) set_value(own.operands[0], e, value);
  }
  for (std::int64_t row : rows.result_row) own.sum_of.push_back(row < 0 ? -1 : chosen[row]);
  return own;
}

int times_of_asking(const Case& c) {
  constexpr std::int64_t most = 8;  // the first of the probe tell most
  const std::int64_t rows = std::ssize(rows_of(c).lengths), all = std::ssize(probes(c.op.operands[0].dtype));
  return static_cast<int>(std::min(most, rows == 0 ? 0 : (all + rows - 1) / rows));
}

}  // namespace plumb
