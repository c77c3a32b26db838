#include "harness/run/digits.h"

#include <algorithm>
#include <cmath>

#include "harness/run/ask.h"
#include "harness/run/own_terms.h"
#include "reference/rounding/model.h"
#include "reference/words/letters.h"

namespace plumb {
namespace {

bool within_tf32(const Tensor& t) {
  constexpr std::uint64_t lost = (std::uint64_t{1} << (24 - kTf32Digits)) - 1;
  for (std::int64_t e = 0; e < elements(t.shape); ++e)
    if (bits(t, e) & lost) return false;
  return true;
}

// Whether each element is a first term: of its sum, or of its group's.
std::vector<bool> first_terms(const Case& c, int operand) {
  const std::vector<std::int64_t> sizes = shape(c.op.operands[operand]);
  std::vector<bool> first(elements(sizes));
  const auto* grouped = std::get_if<Grouped>(&c.op.kind);
  if (grouped && grouped->form == Form::wgrad) {
    for (const std::vector<Range>& runs : group_rows(*grouped, sizes[0]))
      if (const auto run = std::ranges::find_if(runs, [](const Range& r) { return r.size() > 0; }); run != runs.end())
        std::fill_n(first.begin() + run->begin * sizes[1], sizes[1], true);
    return first;
  }
  std::vector<std::int64_t> terms(sizes.size());
  for (int d : contracted_dims(c.op, operand)) terms[d] = 1;
  const std::vector<std::int64_t> at = weighted_coordinates(sizes, terms);
  for (std::size_t e = 0; e < at.size(); ++e) first[e] = at[e] == 0;
  return first;
}

// Odd, of 24 digits.
double wide(std::int64_t e) {
  const std::uint64_t h = static_cast<std::uint64_t>(e + 1) * 0x9e3779b97f4a7c15;
  return (h & 1 ? 1 : -1) * std::ldexp(static_cast<double>(h >> 41 | 1 << 23 | 1), -23);
}

bool in_f32(const Case& c, int operand) {
  const auto is = [](const Spec& spec) { return spec.dtype == DType::f32; };
  return is(c.op.operands[operand]) && c.acc == DType::f32 && c.wire == DType::f32 && std::ranges::all_of(c.op.chain, is);
}

}  // namespace

std::vector<Tensor> operands_of_one_term(const Case& c, int operand) {
  std::vector<Tensor> operands;
  for (int i : {0, 1}) {
    Tensor& t = operands.emplace_back(zero_operand(c, i));
    const std::vector<bool> first = first_terms(c, i);
    for (std::int64_t e = 0; e < std::ssize(first); ++e)
      if (first[e]) set_value(t, e, i == operand ? wide(e) : 1);
  }
  return operands;
}

void ask_for_digits(const Case& c, const std::vector<Tensor>& operands, Process& process, const EachWide& each) {
  if (operands.size() != 2 || is_quantize(c) || quantizes(c.op)) return;
  for (int i : {0, 1}) {
    if (!in_f32(c, i) || !within_tf32(operands[i])) continue;
    each(ask_on(c, process, operands_of_one_term(c, i)), i);
  }
}

}  // namespace plumb
