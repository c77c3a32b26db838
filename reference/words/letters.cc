#include "reference/words/letters.h"

namespace plumb {

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

}  // namespace plumb
