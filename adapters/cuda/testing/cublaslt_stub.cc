// A library in the place of cuBLASLt for the tests of device=host: the functions that are called, which
// multiply on this processor as the engine of PLUMB_STUB_ENGINE does. Its version is 0, by which it is known.
// PLUMB_STUB_LACKS is what it fails at: `algorithm`, there is none; `heuristic`, asking for one is an error;
// `grouped`, the grouped call is.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "adapters/cuda/testing/ptx.h"
#include "reference/device/element_at.h"

namespace {

using plumb::DType;

// Products of a block and the sum so far, aligned to the largest, truncated to so many bits of fraction and
// added; the sum truncated.
struct StubEngine {
  std::string_view name;
  std::int64_t terms;
  int fraction, out;
};
constexpr StubEngine kStubEngines[] = {
    {"Ampere", 8,  24, 23},
    {"Hopper", 16, 25, 23},
    {"narrow", 16, 10, 10}, // none that there is
};

const StubEngine& engine() {
  const char* wanted = std::getenv("PLUMB_STUB_ENGINE");
  const auto* at =
      std::ranges::find(kStubEngines, std::string_view(wanted ? wanted : "Ampere"), &StubEngine::name);
  if (at == std::end(kStubEngines)) std::abort();
  return *at;
}

double cut(double x, int exponent) { return std::ldexp(std::trunc(std::ldexp(x, -exponent)), exponent); }

double summed(const StubEngine& by, const std::vector<double>& terms, double sum) {
  for (std::size_t k = 0; k < terms.size(); k += by.terms) {
    const std::size_t end = std::min(terms.size(), k + by.terms);
    double largest = std::fabs(sum);
    for (std::size_t i = k; i < end; ++i) largest = std::max(largest, std::fabs(terms[i]));
    if (largest == 0) continue;
    const int unit = std::ilogb(largest) - by.fraction;
    double block = cut(sum, unit);
    for (std::size_t i = k; i < end; ++i) block += cut(terms[i], unit);
    sum = block == 0 ? 0 : cut(block, std::ilogb(block) - by.out);
  }
  return sum;
}

// In f32 and f64 one rounding a term, as pedantic products have.
template <class T>
double rounded_each(const std::vector<double>& terms, double begun) {
  T sum = static_cast<T>(begun);
  for (double term : terms) sum = static_cast<T>(sum + static_cast<T>(term));
  return sum;
}

struct StubProduct {
  cublasComputeType_t compute;
  cublasOperation_t transposed[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
};
struct StubLayout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t apart;
  std::int32_t batch = 1;
  std::int64_t next = 0;
};

template <class To, class From>
To* as(From* handle) {
  return reinterpret_cast<To*>(handle);
}

DType dtype_of(cudaDataType_t type) {
  return type == CUDA_R_16BF  ? DType::bf16
         : type == CUDA_R_16F ? DType::f16
         : type == CUDA_R_32F ? DType::f32
                              : DType::f64;
}

using plumb::ptx::kFar;

// What an address means that the stub of the driver gave out (nccl/testing/libcuda.cc), or this processor's
// own.
std::byte* here(const void* at) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(at) & ~kFar);
}

// On the null stream of that stub where the memory is its own: when it comes to it.
cublasStatus_t on_null_stream(const void* at, std::function<cublasStatus_t()> act) {
  if (here(at) == at) return act();
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto launch = reinterpret_cast<decltype(&::cuLaunchHostFunc)>(::dlsym(driver, "cuLaunchHostFunc"));
  const auto run = [](void* given) {
    const auto* what = static_cast<std::function<cublasStatus_t()>*>(given);
    if ((*what)() != CUBLAS_STATUS_SUCCESS) std::abort();
    delete what;
  };
  launch(nullptr, run, new std::function(std::move(act)));
  return CUBLAS_STATUS_SUCCESS;
}

bool lacks(std::string_view what) {
  const char* lacking = std::getenv("PLUMB_STUB_LACKS");
  return lacking && what == lacking;
}

double element(const void* at, const StubLayout& l, std::int64_t row, std::int64_t column) {
  const DType dtype = dtype_of(l.type);
  const std::int64_t i = column * l.apart + row;
  return plumb::value_at(dtype, static_cast<const std::byte*>(at) + i * plumb::width_of(dtype));
}

const void* batch_of(const void* at, const StubLayout& l, std::int64_t i) {
  return here(at) + i * l.next * plumb::width_of(dtype_of(l.type));
}

cublasStatus_t multiply_one(const StubProduct& p, const StubLayout* layouts[3], const void* at[2],
                            std::byte* out, double beta) {
  const bool turned[2] = {p.transposed[0] == CUBLAS_OP_T, p.transposed[1] == CUBLAS_OP_T};
  const std::uint64_t depth = turned[0] ? layouts[0]->rows : layouts[0]->columns;
  const std::uint64_t others = turned[1] ? layouts[1]->columns : layouts[1]->rows;
  const StubLayout& to = *layouts[2];
  if (depth != others || to.rows != (turned[0] ? layouts[0]->columns : layouts[0]->rows) ||
      to.columns != (turned[1] ? layouts[1]->rows : layouts[1]->columns))
    return CUBLAS_STATUS_INVALID_VALUE;
  const DType dtype = dtype_of(to.type);
  std::vector<double> terms(depth);
  for (std::uint64_t column = 0; column < to.columns; ++column)
    for (std::uint64_t row = 0; row < to.rows; ++row) {
      for (std::uint64_t k = 0; k < depth; ++k)
        terms[k] =
            (turned[0] ? element(at[0], *layouts[0], k, row) : element(at[0], *layouts[0], row, k)) *
            (turned[1] ? element(at[1], *layouts[1], column, k) : element(at[1], *layouts[1], k, column));
      std::byte* place = out + (column * to.apart + row) * plumb::width_of(dtype);
      const double begun = beta == 0 ? 0 : beta * plumb::value_at(dtype, place);
      plumb::put_value(dtype, place,
                       p.compute == CUBLAS_COMPUTE_32F   ? summed(engine(), terms, begun)
                       : p.compute == CUBLAS_COMPUTE_64F ? rounded_each<double>(terms, begun)
                                                         : rounded_each<float>(terms, begun));
    }
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t destroy(void* handle) {
  delete static_cast<T*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() { return 0; }
const char* cublasLtGetStatusString(cublasStatus_t) { return "a stub's status"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = as<std::remove_pointer_t<cublasLtHandle_t>>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy<int>(handle); }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t) {
  *made = as<std::remove_pointer_t<cublasLtMatmulDesc_t>>(new StubProduct{compute});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  return destroy<StubProduct>(product);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which, const void* value,
                                              size_t) {
  if (which != CUBLASLT_MATMUL_DESC_TRANSA && which != CUBLASLT_MATMUL_DESC_TRANSB)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&as<StubProduct>(product)->transposed[which == CUBLASLT_MATMUL_DESC_TRANSB], value,
              sizeof(cublasOperation_t));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t apart) {
  if (apart < static_cast<int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *made = as<std::remove_pointer_t<cublasLtMatrixLayout_t>>(new StubLayout{type, rows, columns, apart});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<StubLayout>(layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, const void* value,
                                                size_t bytes) {
  StubLayout& l = *as<StubLayout>(layout);
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof l.batch)
    std::memcpy(&l.batch, value, bytes);
  else if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && bytes == sizeof l.next)
    std::memcpy(&l.next, value, bytes);
  else
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = as<std::remove_pointer_t<cublasLtMatmulPreference_t>>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<int>(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t, const void*,
                                                    size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t*, int* found) {
  *found = lacks("algorithm") || lacks("heuristic") ? 0 : 1;
  return lacks("heuristic") ? CUBLAS_STATUS_INTERNAL_ERROR : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t*,
                                                    cublasLtMatmulAlgoConfigAttributes_t, void*, size_t,
                                                    size_t*) {
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void*, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t) {
  if (c != d) return CUBLAS_STATUS_INVALID_VALUE;
  const std::array all{*as<StubLayout>(a_layout), *as<StubLayout>(b_layout), *as<StubLayout>(d_layout)};
  const StubProduct p = *as<StubProduct>(product);
  const double scale =
      p.compute == CUBLAS_COMPUTE_64F ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  return on_null_stream(d, [=] {
    const StubLayout* layouts[3] = {&all[0], &all[1], &all[2]};
    for (std::int32_t i = 0; i < all[2].batch; ++i) {
      const void* at[2] = {batch_of(a, all[0], i), batch_of(b, all[1], i)};
      auto* out = const_cast<std::byte*>(static_cast<const std::byte*>(batch_of(d, all[2], i)));
      if (const cublasStatus_t status = multiply_one(p, layouts, at, out, scale);
          status != CUBLAS_STATUS_SUCCESS)
        return status;
    }
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = as<std::remove_pointer_t<cublasHandle_t>>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) { return destroy<int>(handle); }
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* at, size_t bytes) {
  const bool may = reinterpret_cast<std::uintptr_t>(at) % 256 == 0 && bytes == size_t{32} << 20;
  return *as<int>(handle) = may, may ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

// Operands and results of one format, by a handle that was given its workspace.
cublasStatus_t cublasGemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t left[],
                                          const cublasOperation_t right[], const int m[], const int n[],
                                          const int k[], const void*, const void* const a[],
                                          cudaDataType_t a_type, const int lda[], const void* const b[],
                                          cudaDataType_t b_type, const int ldb[], const void*,
                                          void* const c[], cudaDataType_t c_type, const int ldc[], int groups,
                                          const int sizes[], cublasComputeType_t compute) {
  if (*as<int>(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (a_type != b_type || a_type != c_type || lacks("grouped")) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < groups; ++i) {
    const auto extent = [](int size) { return static_cast<std::uint64_t>(size); };
    const StubProduct p{
        compute, {left[i], right[i]}
    };
    const bool turned[2] = {left[i] == CUBLAS_OP_T, right[i] == CUBLAS_OP_T};
    const std::array layouts{
        StubLayout{a_type, extent(turned[0] ? k[i] : m[i]), extent(turned[0] ? m[i] : k[i]), lda[i]},
        StubLayout{b_type, extent(turned[1] ? n[i] : k[i]), extent(turned[1] ? k[i] : n[i]), ldb[i]},
        StubLayout{c_type, extent(m[i]),                    extent(n[i]),                    ldc[i]}
    };
    if (sizes[i] != 1) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = on_null_stream(c, [=] {
      const auto of = [i](const auto* table) { return here(reinterpret_cast<void* const*>(here(table))[i]); };
      const StubLayout* all[3] = {&layouts[0], &layouts[1], &layouts[2]};
      const void* at[2] = {of(a), of(b)};
      return multiply_one(p, all, at, of(c), 0);
    });
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
