// What a case means: assemble, evaluate, shard again.
#pragma once

#include <vector>

#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

// The whole array of which the devices hold `blocks` (one per device, dense, in device order). Finished
// specs only. Every device that holds an element must agree on it: an assert, for this is our own data.
Tensor assemble(const Mesh&, const Spec&, Rule, const std::vector<Tensor>& blocks);

// One block per device, in device order. Law: shard then assemble is the identity.
std::vector<Tensor> shard(const Mesh&, const Spec&, Rule, const Tensor& whole);

// The whole result of a case of one result, sums finished, every element rounded once to the dtype of the
// result (integers wrap). Operands are whole; one with unfinished axes has a leading dimension for its parts
// and means their exact sum, which is not rounded (or wrapped) to the operand's dtype on the way.
// A chain means the same as its ends.
Tensor evaluate(const Case&, const std::vector<Tensor>& operands);

// What the parts of an unfinished value (the leading dimension, as part() counts them) make, rounded once
// to `out`: their sum, divided by the number of parts over the averaged axes; or the largest or smallest
// of them, in its own bits, which no rounding reaches.
Tensor finish(const Mesh&, const Spec&, const Tensor& parts, DType out);

// The results of a case in order, dense: of quantize the codes, the scales, and what delayed scaling gives
// besides; of every other op the one result.
std::vector<Tensor> evaluate_all(const Case&, const std::vector<Tensor>& operands);

// A product of quantized operands as a product of the values that their codes and scales mean, which are
// exact: the case without schemes, and its operands. Any other case as it is.
struct Plain {
  Case c;
  std::vector<Tensor> operands;
};
Plain plain(const Case&, const std::vector<Tensor>& operands);

// One file per op (quantize.h has its own header); evaluate() chooses.
Tensor reshard(const Case&, const std::vector<Tensor>& operands);
Tensor einsum(const Case&, const std::vector<Tensor>& operands);
Tensor grouped(const Case&, const std::vector<Tensor>& operands);

}  // namespace plumb
