#include "reference/words/op.h"

#include <algorithm>

namespace plumb {

bool sums(const Op& op) {
  if (std::holds_alternative<Resolve>(op.kind)) return false;
  if (!std::holds_alternative<Reshard>(op.kind)) return true;
  const auto unfinished = [](const Spec& spec) { return !spec.unfinished.empty(); };
  return std::ranges::any_of(op.operands, unfinished) || std::ranges::any_of(op.chain, unfinished);
}

DType default_acc(const Op& op) {
  if (op.operands.empty()) return DType::f32;
  const DType dtype = op.operands.front().dtype;
  if (format(dtype).integer) return DType::s32;
  return std::ranges::any_of(op.operands, [](const Spec& spec) { return spec.dtype == DType::f64; })
             ? DType::f64
             : DType::f32;
}

DType default_wire(const Op& op) { return op.chain.front().dtype; }

Fill default_fill(const Op& op) { return sums(op) ? Fill::cancel : Fill::provenance; }

std::vector<std::vector<Range>> group_rows(const Grouped& grouped, std::int64_t rows) {
  const std::int64_t block = rows / static_cast<std::int64_t>(grouped.sizes.size());
  std::vector<std::vector<Range>> runs(grouped.sizes.front().size());
  std::int64_t start = 0;
  for (const std::vector<std::int64_t>& sizes : grouped.sizes) {
    std::int64_t at = start;
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      runs[g].push_back({at, at + sizes[g]});
      at += sizes[g];
    }
    start += block;
  }
  return runs;
}

}  // namespace plumb
