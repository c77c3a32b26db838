// In the place of cublaslt_products.cc, where there were no headers of CUDA.
#include "adapters/cuda/cublaslt_products.h"

namespace plumb::cuda {

const CublasLtProducts* cublaslt_products(bool, std::string& why) {
  why = "built without the headers of CUDA";
  return nullptr;
}

}  // namespace plumb::cuda
