#include "reference/check/freivalds.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <optional>

#include "reference/check/closed_form.h"
#include "reference/check/factors.h"
#include "reference/check/rings.h"
#include "reference/fill/hash.h"

namespace plumb {
namespace {

constexpr double kMost = 0x1p53;  // in units: what the widest format counts to

using Sizes = std::array<std::int64_t, 128>;  // of each letter

std::int64_t extent(const std::string& letters, const Sizes& size) {
  std::int64_t n = 1;
  for (char letter : letters) n *= size[letter];
  return n;
}

// By how much the place in a dense array of `order` grows along each dimension of one of `letters`.
std::vector<std::int64_t> steps_of(const std::string& letters, const std::string& order, const Sizes& size) {
  std::vector<std::int64_t> steps;
  for (char letter : letters) {
    const std::size_t at = order.find(letter);
    steps.push_back(at == std::string::npos ? 0 : extent(order.substr(at + 1), size));
  }
  return steps;
}

// An array that is summed with weights: its slice, and where each element finds its sum and its weight.
struct Weighing {
  Slice slice;
  std::vector<std::int64_t> sum_steps, weight_steps;
};

// The elements of a part of the slice, which begins at element `from` of the dense block, as integers.
using Integers = std::function<const std::int64_t*(const Slice& part, std::int64_t from)>;

std::int64_t place(const Slice& part, const Slice& slice, const std::vector<std::int64_t>& steps) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < slice.size(); ++d) at += (part[d].begin - slice[d].begin) * steps[d];
  return at;
}

// sums[s] += value * weights[w] over all elements.
template <class Ring>
void weigh(const Weighing& w, const Integers& integers, const std::vector<typename Ring::Weight>& weights,
           std::vector<typename Ring::Sum>& sums) {
  const bool scalar = w.slice.empty();
  const std::int64_t sum_step = scalar ? 0 : w.sum_steps.back(),
                     weight_step = scalar ? 0 : w.weight_steps.back();
  std::int64_t lines = 0;
  each_chunk(w.slice, kChunk, [&](const Slice& part, std::int64_t from) {
    const std::int64_t* values = integers(part, from);
    Slice line = part;  // begins where the line does
    const std::size_t last = scalar ? 0 : part.size() - 1;
    const std::int64_t count = scalar ? 1 : part[last].size();
    for (std::int64_t left = elements(part); left > 0; left -= count, values += count) {
      Ring::add(values, count, weights.data() + place(line, w.slice, w.weight_steps), weight_step,
                sums.data() + place(line, w.slice, w.sum_steps), sum_step);
      if (++lines % (1 << 12) == 0)
        for (auto& sum : sums) sum = Ring::folded(sum);
      for (std::size_t d = last; d-- > 0;) {
        if (++line[d].begin < part[d].end) break;
        line[d].begin = part[d].begin;
      }
    }
  });
}

template <class Ring>
std::vector<typename Ring::Weight> folded(const std::vector<typename Ring::Sum>& sums) {
  std::vector<typename Ring::Weight> all;
  all.reserve(sums.size());
  for (const auto& sum : sums) all.push_back(Ring::folded(sum));
  return all;
}

// The exponent of the unit of which an operand, or the result (2), is a multiple.
int unit_exponent(const Recipe& r, int which) {
  const auto* product = std::get_if<Product>(&r.data);
  return product && which != product->perturbed ? product->budget.unit.exponent : 0;
}

// A product that is proved, by the letters' part in it.
struct Statement {
  const Prover& prover;
  Parts parts;
};

Sizes sizes_of(const Statement& s, const Factors& f) {
  Sizes size{};
  for (std::size_t d = 0; d < f.out.size(); ++d) size[s.parts.words.out[d]] = f.out[d].size();
  return size;
}

// All parts of an operand, one after the other: what it means is their sum.
template <class Ring>
void weigh_operand(const Statement& s, int operand, const Weighing& w,
                   const std::vector<typename Ring::Weight>& weights, std::vector<typename Ring::Sum>& sums) {
  const Source& source = s.prover.data.sources[operand];
  const double scale = std::ldexp(1.0, -unit_exponent(s.prover.data, operand));
  std::vector<std::byte> bytes(kChunk * format(source.dtype).bytes);
  std::vector<double> values(kChunk);
  std::vector<std::int64_t> integers(kChunk);
  for (std::int64_t part = 0; part < source.parts; ++part) {
    const auto made = [&](const Slice& slice, std::int64_t) {
      const std::int64_t n = elements(slice);
      write(s.prover.data, {operand, part, slice}, bytes.data());
      decode(source.dtype, bytes.data(), n, values.data());
      for (std::int64_t i = 0; i < n; ++i) integers[i] = static_cast<std::int64_t>(values[i] * scale);
      return integers.data();
    };
    weigh<Ring>(w, made, weights, sums);
    for (auto& sum : sums) sum = Ring::folded(sum);
  }
}

// A (B r): for each batch and row.
template <class Ring>
std::vector<typename Ring::Weight> wanted_sums(const Statement& s, const Factors& f,
                                               const std::vector<typename Ring::Weight>& r) {
  const auto& [words, batch, rows, columns, summed] = s.parts;
  Sizes size = sizes_of(s, f);
  std::vector<typename Ring::Sum> sums(extent(batch + rows, size));
  for (const auto& [lhs, rhs] : f.pairs) {
    for (char letter : summed) size[letter] = lhs[words.operand[0].find(letter)].size();
    std::vector<typename Ring::Sum> inner(extent(batch + summed, size));
    weigh_operand<Ring>(
        s, 1,
        {rhs, steps_of(words.operand[1], batch + summed, size), steps_of(words.operand[1], columns, size)}, r,
        inner);
    weigh_operand<Ring>(s, 0,
                        {lhs, steps_of(words.operand[0], batch + rows, size),
                         steps_of(words.operand[0], batch + summed, size)},
                        folded<Ring>(inner), sums);
  }
  return folded<Ring>(sums);
}

// What is wanted at one index of the result, whose other letters have one value: r is one.
template <class Ring>
std::uint64_t wanted_at(const Statement& s, const std::vector<std::int64_t>& index) {
  Slice one;
  for (std::int64_t i : index) one.push_back({i, i + 1});
  typename Ring::Weight r{};
  if constexpr (std::is_same_v<Ring, PrimeField>)
    r = 1;
  else
    r[0] = 1;
  const auto sum = wanted_sums<Ring>(s, factors_of(s.prover.c, one).front(), {r}).front();
  return encode(result(s.prover.c).dtype,
                std::ldexp(static_cast<double>(Ring::integer(sum)), unit_exponent(s.prover.data, 2)));
}

std::uint64_t held_at(const Prover& p, const InPlace& block, const std::vector<std::int64_t>& index) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d)
    at = at * block.slice[d].size() + index[d] - block.slice[d].begin;
  const DType dtype = result(p.c).dtype;
  return load(dtype, block.bytes.data() + at * format(dtype).bytes);
}

// The first wrong element of a row of which one is: worked out one by one.
template <class Ring>
Proof refuted_row(const Statement& s, const InPlace& block, const Factors& f, std::int64_t row) {
  const Sizes size = sizes_of(s, f);
  const auto steps = steps_of(s.parts.words.out, s.parts.batch + s.parts.rows, size);
  for (std::int64_t i = 0; i < elements(f.out); ++i) {
    const std::vector<std::int64_t> index = index_in(f.out, i);
    Slice here;
    for (std::int64_t at : index) here.push_back({at, at + 1});
    if (place(here, f.out, steps) != row) continue;
    const std::uint64_t want = wanted_at<Ring>(s, index), got = held_at(s.prover, block, index);
    if (!same_element(s.prover.c, want, got)) return refuted(s.prover, index, want, got);
  }
  assert(false);  // a row of right elements has the right sum
  return {};
}

// The elements of a block as integers; `bad` is the first that is none, or larger than any sum can be.
struct Held {
  const Prover& p;
  const InPlace& block;
  std::vector<double> values = std::vector<double>(kChunk);
  std::vector<std::int64_t> integers = std::vector<std::int64_t>(kChunk);
  std::optional<std::vector<std::int64_t>> bad{};
};

const std::int64_t* read_block(Held& held, const Slice& part, std::int64_t from) {
  const DType dtype = result(held.p.c).dtype;
  const double scale = std::ldexp(1.0, -unit_exponent(held.p.data, 2));
  const std::int64_t n = elements(part);
  decode(dtype, held.block.bytes.data() + from * format(dtype).bytes, n, held.values.data());
  for (std::int64_t i = 0; i < n; ++i) {
    const double units = held.values[i] * scale;
    const bool whole = std::fabs(units) <= kMost && units == std::nearbyint(units);
    if (!whole && !held.bad) held.bad = index_in(part, i);
    held.integers[i] = whole ? static_cast<std::int64_t>(units) : 0;
  }
  return held.integers.data();
}

// The part of a block that lies in f.out.
InPlace within(const InPlace& block, const Factors& f, DType dtype) {
  if (f.out.empty()) return block;
  const std::int64_t row = format(dtype).bytes * elements(f.out) / f.out[0].size();
  return {block.result, f.out,
          block.bytes.subspan((f.out[0].begin - block.slice[0].begin) * row, f.out[0].size() * row)};
}

// C r: for each batch and row.
template <class Ring>
std::vector<typename Ring::Weight> held_sums(const Statement& s, const Factors& f, Held& held,
                                             const std::vector<typename Ring::Weight>& r) {
  const Sizes size = sizes_of(s, f);
  std::vector<typename Ring::Sum> sums(extent(s.parts.batch + s.parts.rows, size));
  weigh<Ring>(
      {f.out, steps_of(s.parts.words.out, s.parts.batch + s.parts.rows, size),
       steps_of(s.parts.words.out, s.parts.columns, size)},
      [&](const Slice& part, std::int64_t from) { return read_block(held, part, from); }, r, sums);
  return folded<Ring>(sums);
}

template <class Ring>
Proof prove_by(const Prover& p, const InPlace& block, std::uint64_t seed, std::string_view law) {
  const Statement s{p, parts_of(p.c.op)};
  const std::uint64_t key = mix(seed + kGolden);
  for (const Factors& f : factors_of(p.c, block.slice)) {
    std::vector<typename Ring::Weight> r;
    const std::int64_t columns = extent(s.parts.columns, sizes_of(s, f));
    for (std::int64_t j = 0; j < columns; ++j) r.push_back(Ring::draw(key, j));
    const InPlace mine = within(block, f, result(p.c).dtype);
    Held held{p, mine};
    const auto got = held_sums<Ring>(s, f, held, r);
    if (held.bad) return refuted(p, *held.bad, wanted_at<Ring>(s, *held.bad), held_at(p, mine, *held.bad));
    const auto want = wanted_sums<Ring>(s, f, r);
    for (std::size_t row = 0; row < want.size(); ++row)
      if (!Ring::equal(want[row], got[row], result(p.c).dtype))
        return refuted_row<Ring>(s, mine, f, static_cast<std::int64_t>(row));
  }
  return {Proof::Answer::proved, std::string(law)};
}

}  // namespace

Proof prove_product(const Prover& p, const InPlace& block, std::uint64_t seed) {
  return prove_by<PrimeField>(p, block, seed,
                              "C r = A (B r) modulo 2^61 - 1: a wrong block passes for one r in 2^61 - 1");
}

Proof prove_wrapping(const Prover& p, const InPlace& block, std::uint64_t seed) {
  return prove_by<WordLanes>(
      p, block, seed,
      "C r = A (B r) modulo the words of C, 64 times: a wrong block passes for one r in "
      "2^64");
}

}  // namespace plumb
