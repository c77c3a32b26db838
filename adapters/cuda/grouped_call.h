// The local products of a grouped matmul as one call of cuBLAS, cublasGemmGroupedBatchedEx.
#pragma once

#include <memory>

#include "adapters/cuda/cublaslt_products.h"
#include "adapters/rank/execute.h"

namespace plumb::cuda {

// The call has results of the format of its operands alone: those of f16 and bf16 are made so and widened,
// where nothing is added to them afterwards and the result is of that format anyway. `others` make what it
// cannot: sums over rows that lie apart, and what is no grouped matmul; of a grouped matmul it is said. Throws
// std::runtime_error where there is no such library.
Multiply products_by_grouped_call(const Hands& of_the_card, Multiply others, std::shared_ptr<MadeBy>);

}  // namespace plumb::cuda
