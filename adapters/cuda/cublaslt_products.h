// The local products of a plan by cuBLASLt: of those that are products of matrices in formats that it has.
// Others make the rest, and it is said.
#pragma once

#include <memory>
#include <string>

#include "adapters/rank/execute.h"

namespace plumb::cuda {

// Who made a plan's products, and why another than was asked for; nothing before the first was.
struct MadeBy {
  std::string words;
};

struct CublasLtProducts {
  std::string version;
  bool stub =
      false;  // no library of NVIDIA: it multiplies on this processor, and proves how it is called alone
  Multiply (*by)(const Hands& of_the_card, Multiply others, std::shared_ptr<MadeBy>) = nullptr;
};

// Null where there is none, and why in one phrase. `grouped_call`: a grouped product is one call of cuBLAS,
// else a loop.
const CublasLtProducts* cublaslt_products(bool grouped_call, std::string& why);

}  // namespace plumb::cuda
