// Work over an index: a loop on this processor or, compiled by nvcc, a kernel on a card. Work is a struct of
// plain data, whose constexpr operator() knows neither.
#pragma once

#include <algorithm>
#include <cstdint>
#ifdef __CUDACC__
#include <cuda_runtime_api.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>
#endif

namespace plumb {

// How many threads a block of a kernel has, and how many blocks work over so many indices.
constexpr unsigned kThreadsOfBlock = 256;
inline unsigned grid_of(std::int64_t count) {
  return static_cast<unsigned>(
      std::min<std::int64_t>((count + kThreadsOfBlock - 1) / kThreadsOfBlock, 1 << 16));
}

#ifdef __CUDACC__
inline namespace on_card {

inline void check_cuda(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

// Work that only moves holds some words before it puts the first: their ways through memory go side by side.
constexpr int kHeldAtOnce = 4;

template <class Work>
__device__ void held_at_once(const Work& work, std::int64_t first) {
  decltype(work.held(first)) held[kHeldAtOnce];
#pragma unroll
  for (int k = 0; k < kHeldAtOnce; ++k) held[k] = work.held(first + k * blockDim.x);
#pragma unroll
  for (int k = 0; k < kHeldAtOnce; ++k) work.put(held[k]);
}

template <class Work>
__device__ void share_of_thread(const Work& work, std::int64_t count) {
  constexpr int each = requires { work.held(count); }
  ? kHeldAtOnce : 1;
  const std::int64_t tile = static_cast<std::int64_t>(each) * blockDim.x;
  for (std::int64_t begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    if constexpr (each > 1)
      if (begin + tile <= count) {
        held_at_once(work, begin + threadIdx.x);
        continue;
      }
    for (std::int64_t i = begin + threadIdx.x; i < begin + tile && i < count; i += blockDim.x) work(i);
  }
}

template <class Work>
__global__ void run_work(Work work, std::int64_t count) {
  share_of_thread(work, count);
}

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  if (count == 0) return;
  constexpr int each = requires { work.held(count); }
  ? kHeldAtOnce : 1;
  run_work<<<grid_of((count + each - 1) / each), kThreadsOfBlock>>>(work, count);
  check_cuda(cudaGetLastError(), "a kernel's launch");
}

// How many pieces an index is cut into: so many that a card is busy, then so few that this processor is not.
constexpr std::int64_t kManyPieces = 1 << 18, kFewPieces = 1 << 12;

// Words in the card's memory for what pieces find, as long as the process: of one fold at a time, on the null
// stream. std::bad_alloc where the card has none left.
inline std::uint64_t* scratch() {
  static const auto made = [] {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, (kManyPieces + kFewPieces) * sizeof(std::uint64_t));
    if (error == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw std::bad_alloc();
    }
    check_cuda(error, "cudaMalloc");
    return static_cast<std::uint64_t*>(memory);
  }();
  return made;
}

// What every `pieces`-th index from one on makes together.
template <class Fold>
struct FoldedPiece {
  Fold fold;
  std::int64_t count, pieces;
  std::uint64_t* found;
  constexpr void operator()(std::int64_t piece) const { found[piece] = fold(piece, pieces, count); }
};

// The same of what pieces have found.
template <class Fold>
struct FoldedFound {
  const std::uint64_t* before;
  std::int64_t count, pieces;
  std::uint64_t* found;
  constexpr void operator()(std::int64_t piece) const {
    std::uint64_t all = before[piece];
    for (std::int64_t i = piece + pieces; i < count; i += pieces) all = Fold::both(all, before[i]);
    found[piece] = all;
  }
};

// No atomics: a word that all threads of a card add to takes them one after another.
template <class Fold>
std::uint64_t folded(std::int64_t count, const Fold& fold) {
  const std::int64_t many = std::min(count, kManyPieces), few = std::min(many, kFewPieces);
  std::uint64_t *found = scratch(), *last = found + kManyPieces;
  std::vector<std::uint64_t> here(few);
  for_each_index(many, FoldedPiece<Fold>{fold, count, many, found});
  for_each_index(few, FoldedFound<Fold>{found, many, few, last});
  check_cuda(cudaMemcpy(here.data(), last, few * sizeof here[0], cudaMemcpyDeviceToHost), "a kernel");
  std::uint64_t all = here[0];
  for (std::int64_t i = 1; i < few; ++i) all = Fold::both(all, here[i]);
  return all;
}

template <class Is>
struct FirstOf {
  Is is;
  constexpr std::uint64_t operator()(std::int64_t piece, std::int64_t pieces, std::int64_t count) const {
    for (std::int64_t i = piece; i < count; i += pieces)
      if (is(i)) return static_cast<std::uint64_t>(i);
    return static_cast<std::uint64_t>(count);
  }
  static constexpr std::uint64_t both(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
};

template <class Is>
std::int64_t first_index(std::int64_t count, const Is& is) {
  return count == 0 ? 0 : static_cast<std::int64_t>(folded(count, FirstOf<Is>{is}));
}

template <class Term>
struct SumOf {
  Term term;
  constexpr std::uint64_t operator()(std::int64_t piece, std::int64_t pieces, std::int64_t count) const {
    std::uint64_t all = 0;
    for (std::int64_t i = piece; i < count; i += pieces) all += term(i);
    return all;
  }
  static constexpr std::uint64_t both(std::uint64_t a, std::uint64_t b) { return a + b; }
};

template <class Term>
std::uint64_t sum_over(std::int64_t count, const Term& term) {
  return count == 0 ? 0 : folded(count, SumOf<Term>{term});
}

}  // namespace on_card
#else
inline namespace here {

template <class Work>
void for_each_index(std::int64_t count, const Work& work) {
  for (std::int64_t i = 0; i < count; ++i) work(i);
}

// The first index for which it is so; count where there is none.
template <class Is>
std::int64_t first_index(std::int64_t count, const Is& is) {
  for (std::int64_t i = 0; i < count; ++i)
    if (is(i)) return i;
  return count;
}

// Modulo 2^64, in any order.
template <class Term>
std::uint64_t sum_over(std::int64_t count, const Term& term) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += term(i);
  return sum;
}

}  // namespace here
#endif

}  // namespace plumb
