// How the stub of NCCL adds up.
#pragma once

#include <nccl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "adapters/nccl/testing/telling.h"
#include "reference/words/dtype.h"

namespace stub {
enum class Kind { all_reduce, reduce, reduce_scatter, all_gather, send, receive };
}

struct Op {
  stub::Kind kind;
  const void* in;
  void* out;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;
};

namespace stub {

using plumb::DType;

inline DType dtype_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return DType::s8;
    case ncclInt32:
      return DType::s32;
    case ncclFloat16:
      return DType::f16;
    case ncclBfloat16:
      return DType::bf16;
    case ncclFloat32:
      return DType::f32;
    case ncclFloat64:
      return DType::f64;
    case ncclFloat8e4m3:
      return DType::f8e4m3;
    default:
      return DType::f8e5m2;
  }
}

inline double both(ncclRedOp_t op, double a, double b) {
  if (op == ncclMax) return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  if (op == ncclMin) return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  return a + b;
}

inline std::deque<double> scalars;  // of operations that were made
constexpr std::size_t kOwnOps = 100;

// By what each part is multiplied first: of a mean by 1/n, rounded.
inline double scale_of(const Op& o, DType dtype, std::size_t n) {
  if (o.op == ncclAvg) return plumb::decode(dtype, plumb::encode(dtype, 1.0 / static_cast<double>(n)));
  return static_cast<std::size_t>(o.op) < kOwnOps ? 1 : scalars[static_cast<std::size_t>(o.op) - kOwnOps];
}

// All values of one element, each rounded.
inline std::uint64_t sum_in_pairs(const Op& o, DType dtype, std::vector<double> values) {
  for (; values.size() > 1; values.resize((values.size() + 1) / 2)) {
    for (std::size_t i = 0; i < values.size() / 2; ++i)
      values[i] = plumb::decode(dtype, plumb::encode(dtype, both(o.op, values[2 * i], values[2 * i + 1])));
    if (values.size() % 2) values[values.size() / 2] = values.back();
  }
  return plumb::encode(dtype, values[0]);
}
inline std::uint64_t sum_kept(const Op& o, DType dtype, const std::vector<double>& values) {
  double sum = values[0];
  for (std::size_t k = 1; k < values.size(); ++k)
    sum = dtype == DType::f64 || plumb::format(dtype).integer
              ? both(o.op, sum, values[k])
              : static_cast<double>(static_cast<float>(both(o.op, sum, values[k])));
  return plumb::encode(dtype, sum);
}

// Each part after the other, from another rank on in each chunk.
inline void combine(const Op& o, const std::vector<std::vector<std::byte>>& parts, std::byte* out) {
  const DType dtype = dtype_of(o.type);
  const int width = plumb::format(dtype).bytes;
  const std::size_t n = parts.size();
  const double scale = scale_of(o, dtype, n);
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32;
  const bool by_switch = variable("STUB_USES").empty() && narrow && o.kind == Kind::all_reduce &&
                         algorithm_of("AllReduce") == "NVLS";
  const std::string adds = either(variable("STUB_ADDS"), by_switch ? "kept" : "");
  for (std::size_t i = 0; i < o.count; ++i) {
    std::vector<double> values;
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t rank = (i * n / o.count + k) % n;
      std::uint64_t bits = plumb::load(dtype, parts[rank].data() + i * width);
      if (scale != 1) bits = plumb::encode(dtype, plumb::decode(dtype, bits) * scale);
      values.push_back(plumb::decode(dtype, bits));
      sum = k == 0 ? bits : plumb::encode(dtype, both(o.op, plumb::decode(dtype, sum), values.back()));
    }
    if (adds == "pairs") sum = sum_in_pairs(o, dtype, values);
    if (adds == "kept") sum = sum_kept(o, dtype, values);
    plumb::store(dtype, out + i * width, sum);
  }
}

}  // namespace stub
