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

  // How many sums are made at once, by one who fetches the weights that they have in common: as far from each
  // other as can be along the last dimension that has sums of its own, so that neighbours still read
  // neighbours.
  static constexpr int kAbreast = 4;
  constexpr bool abreast() const {
    return kept > 0 && dim[kept - 1].weight == 0 && dim[kept - 1].size % kAbreast == 0;
  }

  // Where the elements, the sum and the weights of a sum begin.
  constexpr WeighedDim begin(std::int64_t sum) const {
    WeighedDim at{1, 0, 0, 0};
    PLUMB_ROLLED
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

// An element as an integer, by way of f64. Of any format.
struct AnyElement {
  DType dtype;
  int width;
  double scale;

  static constexpr bool has_small = false;
  constexpr std::int64_t integer(const std::byte* at) const { return whole(value_at(dtype, at) * scale); }
};

// The same where every value is a float, and small ones need no conversion: a float below 2^20, added to one
// whose last digit is 1, has its integer as its last digits. The scale, a power of two, is 1 or more: then no
// product is rounded.
template <DType d>
struct FloatElement {
  static_assert(d == DType::bf16 || d == DType::f32);
  static constexpr int width = sizeof(typename As<d>::Word);
  static constexpr bool has_small = true;
  float scale;

  constexpr float units(const std::byte* at) const {
    const auto word = static_cast<std::uint32_t>(word_at<typename As<d>::Word>(at));
    return std::bit_cast<float>(d == DType::bf16 ? word << 16 : word) * scale;
  }
  constexpr std::int64_t integer(const std::byte* at) const { return whole(units(at)); }
  constexpr bool small(const std::byte* at, std::int32_t& k) const {
    constexpr float ones = 0x1.8p23f, most = 0x1p20f;
    const float all = units(at), placed = all + ones;
    k = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(placed) - std::bit_cast<std::uint32_t>(ones));
    return (placed - ones == all) & (__builtin_fabsf(all) < most);  // no branch
  }
};

// So many products of small values are less than 2^63.
inline constexpr int kMostUnfolded = 1 << 11;

// The integers modulo 2^61 - 1. Small values, which all but those of the widest formats are, take two narrow
// products, by the halves of the weight, of which the lower has a sign; what so many add up to is folded
// before it can be too much.
struct PrimeSum {
  static constexpr int lanes = 1;
  static constexpr std::int64_t kNarrow = 1 << 20;
  __int128 wide = 0;
  std::int64_t low = 0, high = 0;

  struct Halves {
    std::int32_t below, above;
  };
  static constexpr Halves halves(std::uint64_t weight) {
    const auto below = static_cast<std::int32_t>(weight);
    return {below, static_cast<std::int32_t>(weight >> 32) + (below < 0 ? 1 : 0)};
  }
  // What small values add up to; of others it is nothing, and never looked at.
  struct Small {
    std::uint64_t low = 0, high = 0;
    static constexpr Halves halves(std::uint64_t weight) {
      Halves h = PrimeSum::halves(weight);
#ifdef __CUDA_ARCH__
      asm("" : "+r"(h.below));  // else it is taken for 64 bits, and multiplied in three times as many steps
#endif
      return h;
    }
    constexpr void add(std::int32_t value, Halves weight) {
      low += static_cast<std::uint64_t>(static_cast<std::int64_t>(value) * weight.below);
      high += static_cast<std::uint64_t>(static_cast<std::int64_t>(value) * weight.above);
    }
  };
  constexpr void add(const Small& all) {
    low += static_cast<std::int64_t>(all.low), high += static_cast<std::int64_t>(all.high);
  }
  constexpr void add(std::int64_t value, std::uint64_t weight) {
    if (value < kNarrow && value > -kNarrow) {
      const Halves h = halves(weight);
      low += value * h.below, high += value * h.above;
    } else {
      wide += static_cast<__int128>(value) * static_cast<std::int64_t>(weight);
    }
  }
  constexpr void fold() {
    wide += low + (static_cast<__int128>(high) * (std::int64_t{1} << 32));
    const Residue r = residue(static_cast<unsigned __int128>(wide < 0 ? -wide : wide));
    wide = static_cast<std::int64_t>(wide < 0 ? (Residue{} - r).value : r.value);
    low = high = 0;
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
  constexpr void fold() {}
  constexpr std::uint64_t result() const { return sum; }
  static constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(a + b);
  }
};

// A row of elements of each of so many sums, `apart` from those of the next one, with their weights.
struct WeighedRow {
  const std::byte* at;
  const std::uint64_t* weight;
  std::int64_t step, weight_step, left, apart;  // in bytes, in words, elements, in bytes
};

// Sums that are made at once, and which of them have an element that is no integer.
template <class Sum, int count>
struct Abreast {
  Sum sum[count];
  bool unwhole[count] = {};

  // Small values alone, as most are, are added up without a branch; where one is not, all over again.
  template <class Read>
  constexpr void add(const Read& read, WeighedRow& row, int elements) {
    const WeighedRow begun = row;
    if constexpr (Read::has_small) {
      typename Sum::Small small[count];
      bool all = true;
      for (int k = 0; k < elements; ++k, row.at += row.step, row.weight += row.weight_step) {
        const auto weight = Sum::Small::halves(*row.weight);
        for (int s = 0; s < count; ++s) {
          std::int32_t value = 0;
          all &= read.small(row.at + s * row.apart, value);
          small[s].add(value, weight);
        }
      }
      if (all) {
        for (int s = 0; s < count; ++s) sum[s].add(small[s]);
        return;
      }
    }
    row = begun;
    PLUMB_ROLLED
    for (int k = 0; k < elements; ++k, row.at += row.step, row.weight += row.weight_step)
      for (int s = 0; s < count; ++s) {
        const std::int64_t value = read.integer(row.at + s * row.apart);
        unwhole[s] |= value == kUnwhole;
        if (value != kUnwhole) sum[s].add(value, *row.weight);
      }
  }
  constexpr void fold() {
    for (Sum& one : sum) one.fold();
  }
};

// Neighbours read what lies side by side. Of `partial`: each sum, its pieces, their lanes.
template <class Sum, class Read, int count>
struct WeighedPiece {
  Weighed w;
  Read read;
  const std::byte* box;
  const std::uint64_t* weights;
  std::uint64_t* partial;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t lane = i % Sum::lanes, rest = i / Sum::lanes, groups = w.sums / count;
    const std::int64_t group = w.beside ? rest % groups : rest / w.pieces;
    const std::int64_t piece = w.beside ? rest / groups : rest % w.pieces;
    // Of a group the first sum, and how far the next one is.
    const std::int64_t next = count > 1 ? w.dim[w.kept - 1].size / count : 0;
    const std::int64_t first = count > 1 ? group / next * next * count + group % next : group;
    Abreast<Sum, count> all = added(w.begin(first), piece, lane);
    for (int s = 0; s < count; ++s)
      partial[((first + s * next) * w.pieces + piece) * Sum::lanes + lane] =
          all.unwhole[s] ? kNoSum : all.sum[s].result();
  }
  constexpr WeighedRow row(const WeighedDim& at, std::int64_t piece, std::int64_t lane) const {
    const WeighedDim last = w.dims > w.kept ? w.dim[w.dims - 1] : WeighedDim{};
    return {box + (at.step + piece * last.step) * read.width,
            weights + (at.weight + piece * last.weight) * Sum::lanes + lane,
            w.pieces * last.step * read.width,
            w.pieces * last.weight * Sum::lanes,
            (w.inner - piece + w.pieces - 1) / w.pieces,
            count > 1 ? w.dim[w.kept - 1].size / count * w.dim[w.kept - 1].step * read.width : 0};
  }
  constexpr Abreast<Sum, count> added(const WeighedDim& begin, std::int64_t piece, std::int64_t lane) const {
    Abreast<Sum, count> all;
    int unfolded = 0;
    PLUMB_ROLLED
    for (std::int64_t o = 0; o < w.outer; ++o) {
      WeighedDim at = begin;
      std::int64_t index = o;
      PLUMB_ROLLED
      for (int d = w.dims - 1; d-- > w.kept; index /= w.dim[d].size)
        at = Weighed::moved(at, w.dim[d], index % w.dim[d].size);
      for (WeighedRow r = row(at, piece, lane); r.left > 0;) {
        const int room = kMostUnfolded - unfolded, some = r.left < room ? static_cast<int>(r.left) : room;
        all.add(read, r, some);
        r.left -= some, unfolded += some;
        if (unfolded == kMostUnfolded) all.fold(), unfolded = 0;
      }
    }
    return all;
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
    std::uint64_t& held = sums[w.begin(sum).sum * Sum::lanes + lane];
    std::uint64_t all = held;
    bool none = held == kNoSum;
    for (std::int64_t piece = 0; piece < w.pieces; ++piece) {  // without an end before: reads need not wait
      const std::uint64_t one = partial[(sum * w.pieces + piece) * Sum::lanes + lane];
      none |= one == kNoSum;
      all = Sum::plus(all, one);
    }
    held = none ? kNoSum : all;
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
