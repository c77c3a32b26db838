#include "reference/words/letters.h"

#include <algorithm>

namespace plumb {
namespace {

void add_pieces(const Case& c, const Dim& dim, std::vector<std::int64_t>& cuts) {
  const std::int64_t count = axes_size(c.mesh, dim.axes);
  for (std::int64_t i = 0; i < count; ++i) cuts.push_back(piece(c.mesh, dim, c.rule, i).begin);
}

void add_groups(const Grouped& grouped, std::int64_t rows, std::vector<std::int64_t>& cuts) {
  for (const std::vector<Range>& runs : group_rows(grouped, rows))
    for (const Range& run : runs) cuts.insert(cuts.end(), {run.begin, run.end});
}

}  // namespace

Letters letters(const Op& op) {
  if (const auto* einsum = std::get_if<Einsum>(&op.kind))
    return {
        {einsum->lhs, einsum->rhs},
        einsum->out
    };
  const auto* grouped = std::get_if<Grouped>(&op.kind);
  if (!grouped) return {};
  switch (grouped->form) {
    case Form::fwd:
      return {
          {"tk", "gkn"},
          "tn"
      };
    case Form::dgrad:
      return {
          {"tn", "gkn"},
          "tk"
      };
    default:
      return {
          {"tk", "tn"},
          "gkn"
      };
  }
}

std::string contracted(const Op& op) {
  const Letters words = letters(op);
  std::string all;
  for (char c : words.operand[0])
    if (words.operand[1].find(c) != std::string::npos && words.out.find(c) == std::string::npos) all += c;
  return all;
}

std::vector<int> contracted_dims(const Op& op, int operand) {
  const Letters words = letters(op);
  std::vector<int> dims;
  for (char c : contracted(op)) dims.push_back(static_cast<int>(words.operand[operand].find(c)));
  return dims;
}

std::vector<std::vector<std::int64_t>> contracted_cuts(const Case& c) {
  std::vector<std::vector<std::int64_t>> all;
  if (is_reshard(c)) return all;
  const std::vector<int> lhs = contracted_dims(c.op, 0), rhs = contracted_dims(c.op, 1);
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    const Dim &left = c.op.operands[0].dims[lhs[i]], &right = c.op.operands[1].dims[rhs[i]];
    std::vector<std::int64_t>& cuts = all.emplace_back();
    cuts.insert(cuts.end(), {0, left.size});
    add_pieces(c, left, cuts);
    add_pieces(c, right, cuts);
    const auto* grouped = std::get_if<Grouped>(&c.op.kind);
    if (grouped && grouped->form == Form::wgrad) add_groups(*grouped, left.size, cuts);
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
  return all;
}

}  // namespace plumb
