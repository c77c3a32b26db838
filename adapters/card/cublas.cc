#include "adapters/card/cublas.h"

#include "adapters/card/library.h"

namespace plumb::card {
namespace {

struct FoundCublas {
  Cublas functions;
  std::string why;
};

FoundCublas find_cublas() {
  FoundCublas found;
  Cublas& blas = found.functions;
  Library library = open_product_library("cublas", "PLUMB_CUBLAS");
  take(library, "cublasCreate_v2", blas.Create);
  take(library, "cublasDestroy_v2", blas.Destroy);
  take(library, "cublasSetWorkspace_v2", blas.SetWorkspace);
  take(library, "cublasGemmGroupedBatchedEx", blas.GemmGroupedBatchedEx);
  blas.file = library.file;
  found.why = library.why;
  return found;
}

}  // namespace

const Cublas* cublas(std::string& why) {
  static const FoundCublas one = find_cublas();
  why = one.why;
  return why.empty() ? &one.functions : nullptr;
}

}  // namespace plumb::card
