// The kernels that were translated from PTX, by their names, and their grids on this processor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "adapters/cuda/testing/ptx.h"

namespace plumb::ptx {

struct Parameter {
  std::size_t at = 0, bytes = 0;
};

struct Kernel {
  const char* name = nullptr;
  void (*run)(const std::byte* parameters, const Thread&) = nullptr;
  std::vector<Parameter> parameters;
};

inline std::vector<Kernel>& kernels() {
  static std::vector<Kernel> all;
  return all;
}
struct Known {
  explicit Known(const std::vector<Kernel>& more) {
    kernels().insert(kernels().end(), more.begin(), more.end());
  }
};

// Null where there is none of that name.
inline const Kernel* kernel_named(std::string_view name) {
  const auto found = std::ranges::find(kernels(), name, &Kernel::name);
  return found == kernels().end() ? nullptr : &*found;
}

// One thread after another, of at most so many: what is left each makes by the steps of a grid.
inline void run_grid(const Kernel& kernel, u32 blocks, u32 threads, void** given) {
  constexpr u32 kMostBlocks = 2, kMostThreads = 3;
  std::size_t bytes = 1;
  for (const Parameter& p : kernel.parameters) bytes = std::max(bytes, p.at + p.bytes);
  struct alignas(16) Line {
    std::byte bytes[16];
  };
  std::vector<Line> lines((bytes + 15) / 16);
  auto* parameters = reinterpret_cast<std::byte*>(lines.data());
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    std::memcpy(parameters + kernel.parameters[i].at, given[i], kernel.parameters[i].bytes);
  Thread t{0, 0, std::min(threads, kMostThreads), std::min(blocks, kMostBlocks)};
  for (t.ctaid = 0; t.ctaid < t.nctaid; ++t.ctaid)
    for (t.tid = 0; t.tid < t.ntid; ++t.tid) kernel.run(parameters, t);
}

}  // namespace plumb::ptx
