// cuBLAS, opened when it is asked for, for what cuBLASLt has not: its functions under their names without
// "cublas".
#pragma once

#include <cublas_v2.h>

#include <string>

namespace plumb::card {

struct Cublas {
  decltype(&::cublasCreate_v2) Create = nullptr;
  decltype(&::cublasDestroy_v2) Destroy = nullptr;
  decltype(&::cublasSetWorkspace_v2) SetWorkspace = nullptr;
  decltype(&::cublasGemmGroupedBatchedEx) GemmGroupedBatchedEx = nullptr;  // from CUDA 12.5 on
  std::string file;
};

// Null where there is none, or it lacks one of these, with why in one phrase.
const Cublas* cublas(std::string& why);

}  // namespace plumb::card
