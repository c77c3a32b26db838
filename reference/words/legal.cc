#include "reference/words/legal.h"

#include <algorithm>
#include <array>

#include "reference/words/letters.h"
#include "reference/words/schemes.h"

namespace plumb {
namespace {

bool integer(DType dtype) { return format(dtype).integer; }

// Dimensions that share a letter share a size. The group dimension stands in one spec alone.
void check_product(const Op& op, const std::vector<Placed>& specs, const Scan& scan) {
  const Letters words = letters(op);
  std::array<std::int64_t, 128> size;
  size.fill(-1);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string& word = i < 2 ? words.operand[i] : words.out;
    if (specs[i].dims.size() != word.size())
      scan.fail("expected " + std::to_string(word.size()) + " dimensions for '" + word + "'", specs[i].at);
    for (std::size_t d = 0; d < word.size(); ++d) {
      std::int64_t& known = size[static_cast<unsigned char>(word[d])];
      if (known < 0) known = specs[i].spec.dims[d].size;
      if (known != specs[i].spec.dims[d].size)
        scan.fail(std::string("dimension '") + word[d] + "' has size " + std::to_string(known) + " before",
                  specs[i].dims[d]);
    }
  }
}

void check_reshard(const std::vector<Placed>& specs, const Scan& scan) {
  const Spec& from = specs.front().spec;
  for (const Placed& to : specs) {
    if (to.dims.size() != from.dims.size()) scan.fail("a reshard keeps its shape", to.at);
    for (std::size_t d = 0; d < to.dims.size(); ++d)
      if (to.spec.dims[d].size != from.dims[d].size) scan.fail("a reshard keeps its shape", to.dims[d]);
  }
  for (std::size_t i = 1; i < specs.size(); ++i)
    if (!reduced_alike(specs[i - 1].spec, specs[i].spec))
      scan.fail("an axis that stays unfinished keeps its reduction", specs[i].plus);
}

}  // namespace

void check_letters(const Einsum& einsum, const Scan& scan, std::size_t out_at) {
  const auto in = [](const std::string& word, char c) { return word.find(c) != std::string::npos; };
  const std::size_t rhs_at = out_at - 2 - einsum.rhs.size(), lhs_at = rhs_at - 1 - einsum.lhs.size();
  for (std::size_t i = 0; i < einsum.out.size(); ++i)
    if (!in(einsum.lhs, einsum.out[i]) && !in(einsum.rhs, einsum.out[i]))
      scan.fail(std::string("letter '") + einsum.out[i] + "' stands in no operand", out_at + i);
  const auto alone = [&](const std::string& word, const std::string& other, std::size_t at) {
    for (std::size_t i = 0; i < word.size(); ++i)
      if (!in(other, word[i]) && !in(einsum.out, word[i]))
        scan.fail(std::string("letter '") + word[i] + "' stands in one operand alone", at + i);
  };
  alone(einsum.lhs, einsum.rhs, lhs_at);
  alone(einsum.rhs, einsum.lhs, rhs_at);
}

void check_shapes(const Op& op, const std::vector<Placed>& specs, const Scan& scan) {
  const std::size_t operands = op.operands.size();
  check_schemes(op, specs, scan);
  if (std::holds_alternative<Quantize>(op.kind)) return check_quantize(op, specs, scan);
  if (operands == 1)
    check_reshard(specs, scan);
  else
    check_product(op, specs, scan);
  for (std::size_t i = 0; i + 1 < specs.size(); ++i)
    if (specs[i].spec.free) scan.fail("only the result leaves its layout to the backend", specs[i].plus);
  for (std::size_t i = 1; i < specs.size(); ++i) {
    const DType dtype = specs[i].spec.dtype;
    if (operands == 1 && dtype != specs[0].spec.dtype) scan.fail("a reshard keeps its dtype", specs[i].at);
    if (i > operands && dtype != specs[operands].spec.dtype)
      scan.fail("a chain keeps its dtype", specs[i].at);
    if (integer(dtype) != integer(specs[0].spec.dtype))
      scan.fail("integers and floating point do not mix", specs[i].at);
  }
  const auto* grouped = std::get_if<Grouped>(&op.kind);
  for (std::size_t i = operands; grouped && grouped->form == Form::wgrad && i < specs.size(); ++i)
    if (specs[i].spec.dims[0].size != static_cast<std::int64_t>(grouped->sizes[0].size()))
      scan.fail("sizes= names " + std::to_string(grouped->sizes[0].size()) + " groups", specs[i].dims[0]);
  for (const Placed& placed : specs) {
    if (!placed.spec.averaged.empty() && integer(placed.spec.dtype))
      scan.fail("integers do not average", placed.plus);
    if (operands > 1 && (placed.spec.reduction != Reduce::sum || !placed.spec.averaged.empty()))
      scan.fail("avg, max and min are for reshards: a product is a sum", placed.plus);
    if (placed.spec.dtype != DType::e8m0) continue;
    if (operands > 1) scan.fail("e8m0 holds scales: it can be moved, not multiplied", placed.at);
    if (!placed.spec.unfinished.empty())
      scan.fail("e8m0 holds scales: it can be moved, not summed", placed.plus);
  }
}

void check_sizes(const Op& op, const Scan& scan, std::size_t at) {
  const Grouped& grouped = std::get<Grouped>(op.kind);
  const std::vector<Dim>& weights = op.operands[1].dims;
  if (op.operands[0].dims.empty()) return;  // check_shapes will say it
  check_rows(op, grouped.sizes, scan, at);
  const std::size_t groups = grouped.form == Form::wgrad || weights.empty()
                                 ? grouped.sizes[0].size()
                                 : static_cast<std::size_t>(weights[0].size);
  for (const std::vector<std::int64_t>& list : grouped.sizes)
    if (list.size() != groups)
      scan.fail(
          "expected the sizes of " + std::to_string(groups) + " groups, got " + std::to_string(list.size()),
          at);
}

void check_rows(const Op& op, const std::vector<std::vector<std::int64_t>>& sizes, const Scan& scan,
                std::size_t at) {
  if (op.operands[0].dims.empty()) scan.fail("a scalar has no rows", at);
  const std::int64_t rows = op.operands[0].dims[0].size, lists = static_cast<std::int64_t>(sizes.size());
  if (rows % lists != 0)
    scan.fail(std::to_string(rows) + " rows do not make " + std::to_string(lists) + " equal blocks", at);
  for (const std::vector<std::int64_t>& list : sizes) {
    if (list.size() != sizes[0].size())
      scan.fail("expected the sizes of " + std::to_string(sizes[0].size()) + " groups, got " +
                    std::to_string(list.size()),
                at);
    __int128 sum = 0;
    for (std::int64_t size : list) sum += size;
    if (sum > rows / lists)
      scan.fail("the groups have more rows than the " + std::to_string(rows / lists) + " there are", at);
  }
}

void check_acc(const Op& op, DType acc, const Scan& scan, std::size_t at) {
  if (integer(op.operands[0].dtype)) {
    if (acc != DType::s32) scan.fail("integers accumulate in s32", at);
  } else if (integer(acc) || format(acc).bytes < 2) {
    scan.fail("expected an accumulate type: f16, bf16, f32 or f64", at);
  }
}

void check_wire(const Op& op, DType wire, const Scan& scan, std::size_t at) {
  if (wire == DType::e8m0) scan.fail("e8m0 holds scales: it can be moved, not summed", at);
  if (integer(wire) != integer(op.operands[0].dtype)) scan.fail("integers and floating point do not mix", at);
}

void check_fill(const Op& op, Fill fill, const Scan& scan, std::size_t at) {
  if (fill == Fill::scaled && !quantizes(op)) scan.fail("scaled is for data that are quantized", at);
  const bool product = !std::holds_alternative<Quantize>(op.kind);
  if (fill != Fill::scaled && quantizes(op) && (product || fill != Fill::normal))
    scan.fail(product ? "a product of quantized operands has scaled data"
                      : "data that are quantized are scaled or normal",
              at);
  if (fill != Fill::scaled && op.operands.size() == 3) scan.fail("delayed scaling has scaled data", at);
  if (fill == Fill::provenance && sums(op)) scan.fail("provenance is for data that nothing adds", at);
  if (fill == Fill::cancel && !sums(op)) scan.fail("cancel is for data that are added", at);
  if (fill == Fill::normal && op.operands[0].reduction != Reduce::sum)
    scan.fail("max and min do not round: use cancel", at);
  if (fill == Fill::normal && integer(op.operands[0].dtype))
    scan.fail("integers do not round: use cancel", at);
}

}  // namespace plumb
