#include "adapters/cuda/grouped_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "adapters/card/cublas.h"
#include "adapters/card/cublaslt.h"
#include "adapters/cuda/blas_types.h"
#include "adapters/cuda/laid.h"
#include "adapters/cuda/matrices.h"

namespace plumb::cuda {
namespace {

const card::Cublas& blas() {
  std::string why;
  const card::Cublas* found = card::cublas(why);
  if (!found) throw std::runtime_error(why);
  return *found;
}

// The format of both operands, in which the results can be made; nothing where there is none.
std::optional<DType> made_in(const Plan& plan, const Blocks& lhs, const Blocks& rhs, const Blocks& out) {
  if (lhs.stored != rhs.stored || !type_of(lhs.stored)) return std::nullopt;
  if (lhs.stored == out.stored) return lhs.stored;
  const bool added = std::ranges::any_of(plan.legs, [](const Leg& leg) {
    return std::ranges::any_of(leg.rounds, [](const Round& round) { return round.add; });
  });
  const bool widened = out.stored == DType::f32 && format(lhs.stored).bytes == 2;
  return widened && !added && plan.product->out_spec.unfinished.empty() &&
                 plan.product->out_spec.dtype == lhs.stored
             ? std::optional(lhs.stored)
             : std::nullopt;
}

// What the call is told of each product; the addresses lie in the device's memory.
struct Told {
  std::vector<cublasOperation_t> left, right;
  std::vector<int> rows, columns, depth, left_apart, right_apart, out_apart, sizes;
  std::vector<double> ones, zeros;
  std::vector<float> narrow_ones, narrow_zeros;
  std::vector<const std::byte*> lefts, rights;
  std::vector<std::byte*> outs;

  void add(const Gemm& g) {
    left.push_back(g.left.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    right.push_back(g.right.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    rows.push_back(static_cast<int>(g.rows)), columns.push_back(static_cast<int>(g.columns));
    depth.push_back(static_cast<int>(g.depth));
    left_apart.push_back(static_cast<int>(g.left.columns_apart));
    right_apart.push_back(static_cast<int>(g.right.columns_apart));
    out_apart.push_back(static_cast<int>(g.out.columns_apart));
    sizes.push_back(1);
    ones.push_back(1), zeros.push_back(0), narrow_ones.push_back(1), narrow_zeros.push_back(0);
  }
};

struct GroupedCall {
  const Hands& hands;
  cublasHandle_t handle = nullptr;
  AlignedMemory workspace{};
  AlignedMemory narrow{};  // results before they are widened
  DType format = DType::f32;
  Told told{};
  std::optional<Laid<const std::byte*>> lefts, rights;
  std::optional<Laid<std::byte*>> outs;
  bool zeroed = false, made = false, possible = false;
  std::shared_ptr<MadeBy> by;

  GroupedCall(const Hands& h, std::shared_ptr<MadeBy> b) : hands(h), by(std::move(b)) {
    workspace = aligned(kWorkspace, hands);
    card::check(blas().Create(&handle), "cublasCreate");
    card::check(blas().SetWorkspace(handle, workspace.get(), kWorkspace), "cublasSetWorkspace");
  }
  GroupedCall(const GroupedCall&) = delete;
  ~GroupedCall() { blas().Destroy(handle); }

  bool widens(const Blocks& out) const { return format != out.stored; }
  std::byte* begin(const Blocks& out, std::byte* block) const {
    if (!widens(out)) return block;
    return narrow.get() +
           (block - out.memory.get()) * plumb::format(format).bytes / plumb::format(out.stored).bytes;
  }
  // Why not all of it can be one call; nothing where it can.
  std::string make(const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
    const auto in = made_in(plan, lhs, rhs, out);
    if (!in)
      return fmt::format("it has results of the format of its operands alone, and these are {}, {} and {}",
                         plumb::format(lhs.stored).name, plumb::format(rhs.stored).name,
                         plumb::format(out.stored).name);
    format = *in;
    const int width = plumb::format(format).bytes;
    if (widens(out)) narrow = aligned(out.offsets.back(), hands);
    for (std::int64_t i = out.own.begin; i < out.own.end; ++i) {
      const auto gemms = gemms_of(*plan.product, {lhs.slice(i), rhs.slice(i), out.slice(i)});
      if (!gemms) return "they are no products of matrices";
      zeroed = zeroed || gemms->zeroed;
      for (const Gemm& g : gemms->all) {
        if (g.adds || g.batch != 1) return "rows of a group lie apart";
        told.add(g);
        told.lefts.push_back((g.swapped ? rhs : lhs).block(i) + g.left.first * width);
        told.rights.push_back((g.swapped ? lhs : rhs).block(i) + g.right.first * width);
        told.outs.push_back(begin(out, out.block(i)) + g.out.first * width);
      }
    }
    lefts = lay<const std::byte*>(hands, told.lefts);
    rights = lay<const std::byte*>(hands, told.rights);
    outs = lay<std::byte*>(hands, told.outs);
    return "";
  }
  void make_once(const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
    if (std::exchange(made, true) || !plan.product->grouped) return;
    const std::string why = make(plan, lhs, rhs, out);
    possible = why.empty();
    by->words = possible ? "grouped products by one call" : "grouped products not by one call: " + why;
  }
  void carry_out(Blocks& out) const {
    if (zeroed) wipe(out);
    const bool wide = format == DType::f64;
    const cudaDataType_t type = *type_of(format);
    if (!told.rows.empty())
      card::check(
          blas().GemmGroupedBatchedEx(
              handle, told.left.data(), told.right.data(), told.rows.data(), told.columns.data(),
              told.depth.data(), wide ? static_cast<const void*>(told.ones.data()) : told.narrow_ones.data(),
              reinterpret_cast<const void* const*>(lefts->rows()), type, told.left_apart.data(),
              reinterpret_cast<const void* const*>(rights->rows()), type, told.right_apart.data(),
              wide ? static_cast<const void*>(told.zeros.data()) : told.narrow_zeros.data(),
              reinterpret_cast<void* const*>(outs->rows()), type, told.out_apart.data(),
              static_cast<int>(told.sizes.size()), told.sizes.data(),
              wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F),
          "cublasGemmGroupedBatchedEx");
    if (!widens(out)) return;
    for (std::int64_t i = out.own.begin; i < out.own.end; ++i)
      hands.recast({format, out.stored}, begin(out, out.block(i)), out.block(i), out.elements(i));
  }
  void wipe(Blocks& out) const {
    for (std::int64_t i = out.own.begin; i < out.own.end; ++i)
      hands.memory.set(begin(out, out.block(i)), 0,
                       static_cast<std::size_t>(out.elements(i) * plumb::format(format).bytes));
  }
};

}  // namespace

Multiply products_by_grouped_call(const Hands& hands, Multiply others, std::shared_ptr<MadeBy> by) {
  return [call = std::make_shared<GroupedCall>(hands, std::move(by)), others](
             const Plan& plan, const Blocks& lhs, const Blocks& rhs, Blocks& out) {
    call->make_once(plan, lhs, rhs, out);
    call->possible ? call->carry_out(out) : others(plan, lhs, rhs, out);
  };
}

}  // namespace plumb::cuda
