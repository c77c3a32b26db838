// Elements summed with weights: what a piece of a sum is, and what its pieces make. Formulas for this
// processor and for a card.
#pragma once

#include "reference/device/element_at.h"
#include "reference/exact/field.h"

namespace plumb {

// A dimension of a dense box of elements: how far apart its elements lie, their sums, and their weights.
struct WeighedDim {
  std::int64_t size = 1, step = 0, sum = 0, weight = 0;
};

// A box: the dimensions along which every index has a sum of its own, then those over which is summed. Of the
// last of these every `pieces`-th index is one piece of a sum. An element times `scale` is the integer that
// is summed.
struct Weighed {
  static constexpr int kMost = 32;
  int kept = 0, dims = 0;
  WeighedDim dim[kMost];
  std::int64_t sums = 1, outer = 1, inner = 1, pieces = 1;
  bool beside = false;  // elements of neighbouring sums lie side by side, else those of neighbouring pieces
  DType dtype = DType::f32;
  double scale = 1;

  // Where the elements, the sum and the weights of a sum begin.
  constexpr WeighedDim begin(std::int64_t sum) const {
    WeighedDim at{1, 0, 0, 0};
    for (int d = kept; d-- > 0;) {
      const Divided by = divided(sum, dim[d].size);
      at = moved(at, dim[d], by.rest), sum = by.times;
    }
    return at;
  }
  static constexpr WeighedDim moved(WeighedDim at, const WeighedDim& by, std::int64_t times) {
    at.step += by.step * times, at.sum += by.sum * times, at.weight += by.weight * times;
    return at;
  }
};

// What an element is where it is no integer that any sum can be.
inline constexpr std::int64_t kUnwhole = std::int64_t{1} << 62;
inline constexpr std::uint64_t kNoSum = ~std::uint64_t{0};

constexpr std::int64_t whole(double units) {
  if (!(units <= 0x1p53 && units >= -0x1p53)) return kUnwhole;
  const auto integer = static_cast<std::int64_t>(units);
  return static_cast<double>(integer) == units ? integer : kUnwhole;
}

// The integers modulo 2^61 - 1. Small values, which all but those of the widest formats are, take two narrow
// products; what they add up to is folded before it can be too much.
struct PrimeSum {
  static constexpr int lanes = 1;
  static constexpr std::int64_t kNarrow = std::int64_t{1} << 20;
  __int128 wide = 0;
  std::int64_t low = 0, high = 0;
  int unfolded = 0;

  constexpr void add(std::int64_t value, std::uint64_t weight) {
    if (value < kNarrow && value > -kNarrow) {
      low += value * static_cast<std::int64_t>(weight & 0x7fffffff);
      high += value * static_cast<std::int64_t>(weight >> 31);
    } else {
      wide += static_cast<__int128>(value) * static_cast<std::int64_t>(weight);
    }
    if (++unfolded == 1 << 11) fold();
  }
  constexpr void fold() {
    wide += low + (static_cast<__int128>(high) * (std::int64_t{1} << 31));
    const Residue r = residue(static_cast<unsigned __int128>(wide < 0 ? -wide : wide));
    wide = static_cast<std::int64_t>(wide < 0 ? (Residue{} - r).value : r.value);
    low = high = unfolded = 0;
  }
  constexpr std::uint64_t result() {
    fold();
    return static_cast<std::uint64_t>(wide);
  }
  static constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
    return (Residue{a} + Residue{b}).value;
  }
};

// Words modulo 2^32, each weight 64 of them.
struct WordSum {
  static constexpr int lanes = 64;
  std::uint32_t sum = 0;
  constexpr void add(std::int64_t value, std::uint64_t weight) {
    sum += static_cast<std::uint32_t>(value) * static_cast<std::uint32_t>(weight);
  }
  constexpr std::uint64_t result() const { return sum; }
  static constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(a + b);
  }
};

// Neighbours read what lies side by side. Of `partial`: each sum, its pieces, their lanes.
template <class Sum>
struct WeighedPiece {
  Weighed w;
  int width;
  const std::byte* box;
  const std::uint64_t* weights;
  std::uint64_t* partial;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t lane = i % Sum::lanes, rest = i / Sum::lanes;
    const std::int64_t sum = w.beside ? rest % w.sums : rest / w.pieces;
    const std::int64_t piece = w.beside ? rest / w.sums : rest % w.pieces;
    partial[(sum * w.pieces + piece) * Sum::lanes + lane] = added(w.begin(sum), piece, lane);
  }
  constexpr std::uint64_t added(const WeighedDim& begin, std::int64_t piece, std::int64_t lane) const {
    Sum sum;
    const WeighedDim last = w.dims > w.kept ? w.dim[w.dims - 1] : WeighedDim{};
    for (std::int64_t o = 0; o < w.outer; ++o) {
      WeighedDim at = begin;
      std::int64_t left = o;
      for (int d = w.dims - 1; d-- > w.kept; left /= w.dim[d].size)
        at = Weighed::moved(at, w.dim[d], left % w.dim[d].size);
      for (std::int64_t k = piece; k < w.inner; k += w.pieces) {
        const std::int64_t value =
            whole(value_at(w.dtype, box + (at.step + k * last.step) * width) * w.scale);
        if (value == kUnwhole) return kNoSum;
        sum.add(value, weights[(at.weight + k * last.weight) * Sum::lanes + lane]);
      }
    }
    return sum.result();
  }
};

// A sum with what its pieces add to it: kNoSum where one of them has none.
template <class Sum>
struct GatheredSum {
  Weighed w;
  const std::uint64_t* partial;
  std::uint64_t* sums;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t lane = i % Sum::lanes, sum = i / Sum::lanes;
    std::uint64_t& all = sums[w.begin(sum).sum * Sum::lanes + lane];
    for (std::int64_t piece = 0; piece < w.pieces && all != kNoSum; ++piece) {
      const std::uint64_t one = partial[(sum * w.pieces + piece) * Sum::lanes + lane];
      all = one == kNoSum ? kNoSum : Sum::plus(all, one);
    }
  }
};

struct UnwholeElement {
  DType dtype;
  int width;
  double scale;
  const std::byte* block;
  constexpr bool operator()(std::int64_t i) const {
    return whole(value_at(dtype, block + i * width) * scale) == kUnwhole;
  }
};

}  // namespace plumb
