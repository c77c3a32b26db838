#include "reference/words/schemes.h"

#include <algorithm>

#include "reference/words/tiles.h"

namespace plumb {
namespace {

bool quantizable(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::f32; }

void check_dtype(const Placed& placed, DType dtype, const Scan& scan, const char* what) {
  if (placed.spec.dtype != dtype)
    scan.fail(std::string(what) + " of this scheme are " + std::string(format(dtype).name), placed.at);
}

void check_shape(const Placed& placed, const Shape& wanted, const Scan& scan, const std::string& message) {
  if (shape(placed.spec) != wanted) scan.fail(message, placed.at);
}

// x, history, scale -> codes, scale inverse, history, scale.
void check_delayed(const Quantize& q, const std::vector<Placed>& specs, const Scan& scan) {
  if (in_blocks(q.scheme)) scan.fail("blocks have no delayed scaling: expected fp8 or fp8e5", specs[1].at);
  if (!q.sizes.empty()) scan.fail("delayed scaling has one scale: groups are not for it", specs[1].at);
  for (std::size_t i : {1, 2, 5, 6}) check_dtype(specs[i], DType::f32, scan, "history and scale");
  if (specs[1].dims.size() != 1 || specs[1].spec.dims[0].size == 0)
    scan.fail("a history is one dimension of at least one magnitude", specs[1].at);
  check_shape(specs[5], shape(specs[1].spec), scan, "the history keeps its length");
  for (std::size_t i : {2, 4, 6}) check_shape(specs[i], {}, scan, "delayed scaling has one scale, []");
}

}  // namespace

void check_schemes(const Op& op, const std::vector<Placed>& specs, const Scan& scan) {
  const bool product = op.operands.size() == 2;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const Placed& p = specs[i];
    if (p.spec.scheme == Scheme::none) continue;
    if (!product || i >= op.operands.size()) scan.fail("a scheme is for an operand of a product", p.tilde);
    if (!p.spec.unfinished.empty()) scan.fail("an unfinished sum is not quantized", p.tilde);
    if (!quantizable(p.spec.dtype)) scan.fail("bf16, f16 and f32 are quantized", p.at);
    if (in_blocks(p.spec.scheme) && std::holds_alternative<Einsum>(op.kind) &&
        block_dim(op, static_cast<int>(i)) < 0)
      scan.fail("blocks run along a contracted dimension, and there is none", p.tilde);
  }
}

void check_quantize(const Op& op, const std::vector<Placed>& specs, const Scan& scan) {
  const Quantize& q = std::get<Quantize>(op.kind);
  const std::size_t operands = op.operands.size();
  const Placed &x = specs[0], &codes = specs[operands], &scales = specs[operands + 1];
  if (!quantizable(x.spec.dtype)) scan.fail("bf16, f16 and f32 are quantized", x.at);
  for (const Placed& placed : specs)
    if (placed.spec.free) scan.fail("quantize is asked for layouts", placed.plus);
  for (const Placed& placed : specs)
    if (!placed.spec.unfinished.empty()) scan.fail("quantize takes and gives finished values", placed.plus);
  check_dtype(codes, codes_of(q.scheme), scan, "codes");
  check_shape(codes, shape(x.spec), scan, "codes have the shape of the values");
  check_dtype(scales, scales_of(q.scheme), scan, "scales");
  if (operands == 3) return check_delayed(q, specs, scan);
  if (tiles(q, shape(x.spec), shape(scales.spec))) return;
  scan.fail(!in_blocks(q.scheme) ? q.sizes.empty() ? "expected the scales of all values, [], or of each "
                                                     "index of the first dimension"
                                                   : "expected one scale for each group"
                                 : "expected the shape of the values with one dimension in blocks of 32",
            scales.at);
}

}  // namespace plumb
