#include "adapters/cuda/cublaslt_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "adapters/card/cublas.h"
#include "adapters/card/cublaslt.h"
#include "adapters/cuda/blas_types.h"
#include "adapters/cuda/grouped_call.h"
#include "adapters/cuda/matrices.h"

namespace plumb::cuda {
namespace {

constexpr std::uintptr_t kAligned = 256;                   // the most that it asks about

const card::CublasLt& lt() {
  std::string why;
  return *card::cublaslt(why);
}

// In which formats; the accumulator's is that of the result.
struct Formats {
  DType operands = DType::f32, acc = DType::f32;
  auto operator<=>(const Formats&) const = default;
};

bool has_formats(const Formats& f, DType rhs) {
  if (f.operands != rhs || !type_of(f.operands)) return false;
  return f.acc == DType::f64 ? f.operands == DType::f64 : f.acc == DType::f32 && f.operands != DType::f64;
}

// Handles of the library, destroyed with what holds them.
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

template <class T>
void set_layout(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which, const T& value) {
  card::check(lt().MatrixLayoutSetAttribute(layout, which, &value, sizeof value),
              "cublasLtMatrixLayoutSetAttribute");
}

struct Extent {
  std::int64_t rows, columns, batch;
};

Owned<cublasLtMatrixLayout_t> layout_of(DType dtype, const Extent& op, const Matrix& m) {
  cublasLtMatrixLayout_t layout = nullptr;
  card::check(lt().MatrixLayoutCreate(&layout, *type_of(dtype), m.transposed ? op.columns : op.rows,
                                      m.transposed ? op.rows : op.columns, m.columns_apart),
              "cublasLtMatrixLayoutCreate");
  Owned<cublasLtMatrixLayout_t> owned(layout, lt().MatrixLayoutDestroy);
  set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(op.batch));
  set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, m.next);
  return owned;
}

// Sums are made in the accumulator's format and nowhere else: no split of the depth adds up in a narrower
// one.
template <class T>
void prefer(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t which,
            const T& value) {
  card::check(lt().MatmulPreferenceSetAttribute(preference, which, &value, sizeof value),
              "cublasLtMatmulPreferenceSetAttribute");
}

std::uint32_t alignment_of(const std::byte* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at) | kAligned;
  return static_cast<std::uint32_t>(address & (~address + 1));
}

struct Addresses {
  const std::byte *left, *right;
  std::byte* out;
};

// A product of matrices made ready, wherever they lie.
struct ReadyGemm {
  Owned<cublasLtMatmulDesc_t> product;
  Owned<cublasLtMatrixLayout_t> left, right, out;
  bool wide = false;  // numbers that scale are double
  cublasLtMatmulAlgo_t algorithm{};
};

ReadyGemm described(const Gemm& g, const Formats& f) {
  const bool wide = f.acc == DType::f64;
  const cublasComputeType_t compute = wide                       ? CUBLAS_COMPUTE_64F
                                      : f.operands == DType::f32 ? CUBLAS_COMPUTE_32F_PEDANTIC
                                                                 : CUBLAS_COMPUTE_32F;
  cublasLtMatmulDesc_t product = nullptr;
  card::check(lt().MatmulDescCreate(&product, compute, wide ? CUDA_R_64F : CUDA_R_32F),
              "cublasLtMatmulDescCreate");
  Owned<cublasLtMatmulDesc_t> owned(product, lt().MatmulDescDestroy);
  for (const auto& [which, transposed] : {std::pair(CUBLASLT_MATMUL_DESC_TRANSA, g.left.transposed),
                                          std::pair(CUBLASLT_MATMUL_DESC_TRANSB, g.right.transposed)}) {
    const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    card::check(lt().MatmulDescSetAttribute(product, which, &op, sizeof op),
                "cublasLtMatmulDescSetAttribute");
  }
  return {std::move(owned), layout_of(f.operands, {g.rows, g.depth, g.batch}, g.left),
          layout_of(f.operands, {g.depth, g.columns, g.batch}, g.right),
          layout_of(f.acc, {g.rows, g.columns, g.batch}, g.out), wide};
}

// False where the library has no algorithm for it.
bool choose(ReadyGemm& ready, cublasLtHandle_t handle, const Addresses& at) {
  cublasLtMatmulPreference_t made = nullptr;
  card::check(lt().MatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  const Owned<cublasLtMatmulPreference_t> preference(made, lt().MatmulPreferenceDestroy);
  prefer(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspace));
  prefer(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(at.left));
  prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(at.right));
  prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(at.out));
  prefer(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(at.out));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status =
      lt().MatmulAlgoGetHeuristic(handle, ready.product.get(), ready.left.get(), ready.right.get(),
                                  ready.out.get(), ready.out.get(), made, 1, &found, &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return false;
  card::check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (count == 0) return false;
  ready.algorithm = found.algo;
  return true;
}

// What differs between two products that cannot be made alike.
using Like = std::array<std::int64_t, 17>;
Like like(const Gemm& g, const Formats& f, const Addresses& at) {
  return {g.rows,
          g.columns,
          g.depth,
          g.batch,
          g.left.columns_apart,
          g.right.columns_apart,
          g.out.columns_apart,
          g.left.next,
          g.right.next,
          g.out.next,
          g.left.transposed,
          g.right.transposed,
          static_cast<std::int64_t>(f.operands),
          static_cast<std::int64_t>(f.acc),
          alignment_of(at.left),
          alignment_of(at.right),
          alignment_of(at.out)};
}

struct Call {
  const ReadyGemm* ready;
  Addresses at;
  bool adds;
};
struct Wiped {
  std::byte* at;
  std::size_t bytes;
};

// The products of a plan, made ready when the first is wanted; the blocks stay where they are.
struct Called {
  const Hands& hands;
  Multiply others;
  std::shared_ptr<MadeBy> by;
  cublasLtHandle_t handle = nullptr;
  AlignedMemory workspace{};
  std::map<Like, std::unique_ptr<ReadyGemm>> known{};  // null: there is no algorithm
  std::vector<Wiped> wiped{};
  std::vector<Call> calls{};
  bool made = false, by_library = false;

  Called(const Hands& h, Multiply o, std::shared_ptr<MadeBy> b)
      : hands(h), others(std::move(o)), by(std::move(b)) {
    card::check(lt().Create(&handle), "cublasLtCreate");
    workspace = aligned(kWorkspace, hands);
  }
  Called(const Called&) = delete;
  ~Called() { lt().Destroy(handle); }

  const ReadyGemm* ready(const Gemm& g, const Formats& f, const Addresses& at) {
    auto [known_at, fresh] = known.try_emplace(like(g, f, at));
    if (fresh) {
      auto one = std::make_unique<ReadyGemm>(described(g, f));
      if (choose(*one, handle, at)) known_at->second = std::move(one);
    }
    return known_at->second.get();
  }
  // Why not all of it can be made so; nothing where it can.
  std::string make(const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
    const Formats f{lhs.stored, out.stored};
    if (!has_formats(f, rhs.stored))
      return fmt::format("it has no products of {} and {} in {}", format(f.operands).name,
                         format(rhs.stored).name, format(f.acc).name);
    const int in = format(lhs.stored).bytes, of_out = format(out.stored).bytes;
    for (std::int64_t i = out.own.begin; i < out.own.end; ++i) {
      const auto gemms = gemms_of(*plan.product, {lhs.slice(i), rhs.slice(i), out.slice(i)});
      if (!gemms) return "they are no products of matrices";
      if (gemms->zeroed) wiped.push_back({out.block(i), static_cast<std::size_t>(out.elements(i)) * of_out});
      for (const Gemm& g : gemms->all) {
        const std::byte *left = (g.swapped ? rhs : lhs).block(i), *right = (g.swapped ? lhs : rhs).block(i);
        const Addresses at{left + g.left.first * in, right + g.right.first * in,
                           out.block(i) + g.out.first * of_out};
        const ReadyGemm* one = ready(g, f, at);
        if (!one)
          return fmt::format("it has no algorithm for {} by {} by {} of {} in {}", g.rows, g.columns, g.depth,
                             format(f.operands).name, format(f.acc).name);
        calls.push_back({one, at, g.adds});
      }
    }
    return "";
  }
  void make_once(const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
    if (std::exchange(made, true)) return;
    const std::string why = make(plan, lhs, rhs, out);
    by_library = why.empty();
    if (!by->words.empty()) by->words += "; ";
    by->words += by_library ? "products by cuBLASLt" : "products not by cuBLASLt: " + why;
  }
  void carry_out() const {
    for (const Wiped& block : wiped) hands.memory.set(block.at, 0, block.bytes);
    for (const Call& call : calls) {
      const float one = 1, zero = 0;
      const double one_wide = 1, zero_wide = 0;
      const bool wide = call.ready->wide;
      const void* beta = wide ? static_cast<const void*>(call.adds ? &one_wide : &zero_wide)
                              : static_cast<const void*>(call.adds ? &one : &zero);
      card::check(
          lt().Matmul(handle, call.ready->product.get(), wide ? static_cast<const void*>(&one_wide) : &one,
                      call.at.left, call.ready->left.get(), call.at.right, call.ready->right.get(), beta,
                      call.at.out, call.ready->out.get(), call.at.out, call.ready->out.get(),
                      &call.ready->algorithm, workspace.get(), kWorkspace, nullptr),
          "cublasLtMatmul");
    }
  }
};

Multiply multiply_by_cublaslt(const Hands& hands, Multiply others, std::shared_ptr<MadeBy> by) {
  return [called = std::make_shared<Called>(hands, std::move(others), std::move(by))](
             const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
    called->make_once(plan, lhs, rhs, out);
    called->by_library ? called->carry_out() : called->others(plan, lhs, rhs, out);
  };
}

Multiply multiply_by_grouped_call(const Hands& hands, Multiply others, std::shared_ptr<MadeBy> by) {
  return products_by_grouped_call(hands, multiply_by_cublaslt(hands, std::move(others), by), by);
}

}  // namespace

const CublasLtProducts* cublaslt_products(bool grouped_call, std::string& why) {
  const card::CublasLt* found = card::cublaslt(why);
  if (!found || (grouped_call && !card::cublas(why))) return nullptr;
  const std::size_t version = found->GetVersion();
  static CublasLtProducts products;
  products = {version == 0 ? "a stub" : std::to_string(version), version == 0,
              grouped_call ? multiply_by_grouped_call : multiply_by_cublaslt};
  return &products;
}

}  // namespace plumb::cuda
