#include "adapters/card/cublaslt.h"

#include <fmt/format.h>

#include <stdexcept>

#include "adapters/card/library.h"

namespace plumb::card {
namespace {

struct Found {
  CublasLt functions;
  std::string why;
};

Found find_cublaslt() {
  Found found;
  CublasLt& lt = found.functions;
  Library library = open_product_library("cublasLt", "PLUMB_CUBLASLT");
  take(library, "cublasLtGetVersion", lt.GetVersion);
  take(library, "cublasLtGetStatusString", lt.GetStatusString);
  take(library, "cublasLtCreate", lt.Create);
  take(library, "cublasLtDestroy", lt.Destroy);
  take(library, "cublasLtMatmulDescCreate", lt.MatmulDescCreate);
  take(library, "cublasLtMatmulDescDestroy", lt.MatmulDescDestroy);
  take(library, "cublasLtMatmulDescSetAttribute", lt.MatmulDescSetAttribute);
  take(library, "cublasLtMatrixLayoutCreate", lt.MatrixLayoutCreate);
  take(library, "cublasLtMatrixLayoutDestroy", lt.MatrixLayoutDestroy);
  take(library, "cublasLtMatrixLayoutSetAttribute", lt.MatrixLayoutSetAttribute);
  take(library, "cublasLtMatmulPreferenceCreate", lt.MatmulPreferenceCreate);
  take(library, "cublasLtMatmulPreferenceDestroy", lt.MatmulPreferenceDestroy);
  take(library, "cublasLtMatmulPreferenceSetAttribute", lt.MatmulPreferenceSetAttribute);
  take(library, "cublasLtMatmulAlgoGetHeuristic", lt.MatmulAlgoGetHeuristic);
  take(library, "cublasLtMatmulAlgoConfigGetAttribute", lt.MatmulAlgoConfigGetAttribute);
  take(library, "cublasLtMatmul", lt.Matmul);
  lt.file = library.file;
  found.why = library.why;
  return found;
}

const Found& the_cublaslt() {
  static const Found one = find_cublaslt();
  return one;
}

}  // namespace

const CublasLt* cublaslt(std::string& why) {
  why = the_cublaslt().why;
  return why.empty() ? &the_cublaslt().functions : nullptr;
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const auto words = the_cublaslt().functions.GetStatusString;
  throw std::runtime_error(
      fmt::format("{}: {}", call, words ? words(status) : std::to_string(static_cast<int>(status))));
}

}  // namespace plumb::card
