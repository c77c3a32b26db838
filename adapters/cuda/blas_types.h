// The formats of NVIDIA's libraries of products.
#pragma once

#include <library_types.h>

#include <optional>

#include "reference/words/dtype.h"

namespace plumb::cuda {

constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // what a library may use, of every product alike

inline std::optional<cudaDataType_t> type_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    case DType::f32:
      return CUDA_R_32F;
    case DType::f64:
      return CUDA_R_64F;
    default:
      return std::nullopt;
  }
}

}  // namespace plumb::cuda
