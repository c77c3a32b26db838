// Elements summed with weights: what a piece of a sum is, and what its pieces make. Formulas for this
// processor and for a card.
#pragma once

#include <cstdint>

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
  int run = 1;  // neighbours of the last dimension that a piece takes at once, each `run` pieces further
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
// Stands beside a sum, all of which are lower, where a zero has a sign.
inline constexpr std::uint64_t kSigned = std::uint64_t{1} << 62;

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
  constexpr bool has_sign(std::int64_t integer, const std::byte* at) const {
    return integer == 0 && signed_zero(dtype) != 0 && std::bit_cast<std::uint64_t>(value_at(dtype, at)) != 0;
  }
};

// How many elements a word of 16 bytes holds, of formats that are read so.
constexpr int run_of(DType dtype) { return dtype == DType::bf16 ? 8 : dtype == DType::f32 ? 4 : 1; }

// The same where every value is a float, and small ones need no conversion: a float below 2^20, added to one
// whose last digit is 1, has its integer as its last digits. The scale, a power of two, is 1 or more: then no
// product is rounded.
template <DType d>
struct FloatElement {
  static_assert(d == DType::bf16 || d == DType::f32);
  using Word = typename As<d>::Word;
  static constexpr int width = sizeof(Word), run = run_of(d);
  static_assert(run * width == sizeof(Word16));
  static constexpr bool has_small = true;
  float scale;

  // An element as the bits of a float; and of a run of them that lie in one word.
  static constexpr std::uint32_t bits(const std::byte* at) {
    return std::uint32_t{word_at<Word>(at)} << (32 - 8 * width);
  }
  static constexpr std::uint32_t bits(const Word16& all, int k) {
    const int per_half = run / 2;
    const std::uint64_t half = (k < per_half ? all.low : all.high) >> (k % per_half * 8 * width);
    return std::uint32_t{static_cast<Word>(half)} << (32 - 8 * width);
  }
  constexpr std::int64_t integer(const std::byte* at) const {
    return whole(std::bit_cast<float>(bits(at)) * scale);
  }
  constexpr bool has_sign(std::int64_t integer, const std::byte* at) const {
    return integer == 0 && bits(at) != 0;
  }
  constexpr bool small(std::uint32_t bits, std::int32_t& k) const {
    constexpr float ones = 0x1.8p23f, most = 0x1p20f;
    const float all = std::bit_cast<float>(bits) * scale, placed = all + ones;
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
  static_assert(kMostUnfolded <= INT64_MAX / (kNarrow << 31));
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

// Runs of elements of each of so many sums, `apart` from those of the next one, with their weights.
struct WeighedRow {
  const std::byte* at;
  const std::uint64_t* weight;
  std::int64_t step, weight_step, left, apart;  // in bytes, in words, runs, in bytes
  constexpr void next() { at += step, weight += weight_step; }
};

// Sums that are made at once; which of them have an element that is no integer, and whether any has a zero
// with a sign.
template <class Sum, int count, int run>
struct Abreast {
  Sum sum[count];
  bool unwhole[count] = {}, signs = false;

  // Small values alone, as most are, are added up without a branch; where one is not, all over again.
  template <class Read>
  constexpr void add(const Read& read, WeighedRow& row, int runs) {
    if constexpr (Read::has_small) {
      WeighedRow at = row;
      if (add_small(read, at, runs)) {
        row = at;
        return;
      }
    }
    PLUMB_ROLLED
    for (int k = 0; k < runs; ++k, row.next())
      for (int r = 0; r < run; ++r)
        for (int s = 0; s < count; ++s)
          add_any(read, s, row.at + s * row.apart + r * read.width, row.weight[r]);
  }
  template <class Read>
  constexpr void add_any(const Read& read, int s, const std::byte* at, std::uint64_t weight) {
    const std::int64_t value = read.integer(at);
    signs |= read.has_sign(value, at);
    unwhole[s] |= value == kUnwhole;
    if (value != kUnwhole) sum[s].add(value, weight);
  }
  // As an integer no float's bits are below those of -0.
  template <class Read>
  constexpr bool add_small(const Read& read, WeighedRow& row, int runs) {
    typename Sum::Small small[count];
    constexpr std::int32_t signed_zero = std::numeric_limits<std::int32_t>::min();
    std::int32_t lowest = 0;
    bool all = true;
    for (int k = 0; k < runs; ++k, row.next()) {
      typename Sum::Halves weights[run];
      weights_of(row, weights);
      for (int s = 0; s < count; ++s) {
        const auto words = run_at<Read>(row.at + s * row.apart);
        for (int r = 0; r < run; ++r) {
          const std::uint32_t bits = run > 1 ? Read::bits(words, r) : static_cast<std::uint32_t>(words.low);
          std::int32_t value = 0;
          lowest = std::min(lowest, static_cast<std::int32_t>(bits));
          all &= read.small(bits, value);
          small[s].add(value, weights[r]);
        }
      }
    }
    if (!all) return false;
    for (int s = 0; s < count; ++s) sum[s].add(small[s]);
    signs |= lowest == signed_zero;
    return true;
  }
  template <class Read>
  static constexpr Word16 run_at(const std::byte* at) {
    if constexpr (run > 1) return word_at<Word16>(at);
    return {Read::bits(at), 0};
  }
  template <class Halves>
  static constexpr void weights_of(const WeighedRow& row, Halves (&weights)[run]) {
    if constexpr (run == 1) {
      weights[0] = Sum::Small::halves(*row.weight);
    } else {
      for (int r = 0; r < run; r += 2) {
        const Word16 two = word_at<Word16>(reinterpret_cast<const std::byte*>(row.weight + r));
        weights[r] = Sum::Small::halves(two.low), weights[r + 1] = Sum::Small::halves(two.high);
      }
    }
  }
  constexpr void fold() {
    for (Sum& one : sum) one.fold();
  }
};

// Neighbours read what lies side by side. Of `partial`: each piece, its sums, their lanes.
template <class Sum, class Read, int count, int run = 1>
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
    Abreast<Sum, count, run> all = added(w.begin(first), piece, lane);
    for (int s = 0; s < count; ++s)
      partial[(piece * w.sums + first + s * next) * Sum::lanes + lane] =
          all.unwhole[s] ? kNoSum : all.sum[s].result() | (all.signs ? kSigned : 0);
  }
  constexpr WeighedRow row(const WeighedDim& at, std::int64_t piece, std::int64_t lane) const {
    const WeighedDim last = w.dims > w.kept ? w.dim[w.dims - 1] : WeighedDim{};
    return {box + (at.step + piece * run * last.step) * read.width,
            weights + (at.weight + piece * run * last.weight) * Sum::lanes + lane,
            w.pieces * run * last.step * read.width,
            w.pieces * run * last.weight * Sum::lanes,
            (w.inner / run - piece + w.pieces - 1) / w.pieces,
            count > 1 ? w.dim[w.kept - 1].size / count * w.dim[w.kept - 1].step * read.width : 0};
  }
  constexpr Abreast<Sum, count, run> added(const WeighedDim& begin, std::int64_t piece,
                                           std::int64_t lane) const {
    constexpr int most = kMostUnfolded / run;
    Abreast<Sum, count, run> all;
    int unfolded = 0;
    PLUMB_ROLLED
    for (std::int64_t o = 0; o < w.outer; ++o) {
      WeighedDim at = begin;
      std::int64_t index = o;
      PLUMB_ROLLED
      for (int d = w.dims - 1; d-- > w.kept; index /= w.dim[d].size)
        at = Weighed::moved(at, w.dim[d], index % w.dim[d].size);
      for (WeighedRow r = row(at, piece, lane); r.left > 0;) {
        const int room = most - unfolded, some = r.left < room ? static_cast<int>(r.left) : room;
        all.add(read, r, some);
        r.left -= some, unfolded += some;
        if (unfolded == most) all.fold(), unfolded = 0;
      }
    }
    return all;
  }
};

// A sum with what its pieces add to it: kNoSum where one of them has none, beside kSigned where one has that.
template <class Sum>
struct GatheredSum {
  Weighed w;
  const std::uint64_t* partial;
  std::uint64_t* sums;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t lane = i % Sum::lanes, sum = i / Sum::lanes;
    std::uint64_t& held = sums[w.begin(sum).sum * Sum::lanes + lane];
    std::uint64_t all = held & ~kSigned, marks = held & kSigned;
    bool none = held == kNoSum;
    for (std::int64_t piece = 0; piece < w.pieces; ++piece) {  // without an end before: reads need not wait
      const std::uint64_t one = partial[(piece * w.sums + sum) * Sum::lanes + lane];
      none |= one == kNoSum;
      marks |= one & kSigned;
      all = Sum::plus(all, one & ~kSigned);
    }
    held = none ? kNoSum : all | marks;
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
