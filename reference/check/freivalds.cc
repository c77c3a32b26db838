#include "reference/check/freivalds.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cmath>

#include "reference/check/closed_form.h"
#include "reference/check/factors.h"
#include "reference/fill/hash.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

// Values as integers of a unit that is 1 / scale; whether all of them are.
PLUMB_CLONES bool in_units(const double* values, std::int64_t count, double scale, std::int64_t* integers) {
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < count; ++i) others += std::fabs(values[i] * scale) <= kMostUnits ? 0 : 1;
  if (others > 0) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    integers[i] = static_cast<std::int64_t>(values[i] * scale);
    others += static_cast<double>(integers[i]) == values[i] * scale ? 0 : 1;
  }
  return others == 0;
}

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
std::vector<typename Ring::Weight> all_folded(const std::vector<typename Ring::Sum>& sums) {
  std::vector<typename Ring::Weight> all;
  all.reserve(sums.size());
  for (const auto& sum : sums) all.push_back(Ring::folded(sum));
  return all;
}

// All parts of an operand, one after the other.
template <class Ring>
std::vector<typename Ring::Weight> weigh_operand(const Prover& p, int operand, const Weighing& w,
                                                 const std::vector<typename Ring::Weight>& weights) {
  const Source& source = p.data.sources[operand];
  const double scale = std::ldexp(1.0, -unit_exponent(p.data, operand));
  std::vector<typename Ring::Sum> sums(w.sums);
  std::vector<std::byte> bytes(kChunk * format(source.dtype).bytes);
  std::vector<double> values(kChunk);
  std::vector<std::int64_t> integers(kChunk);
  for (std::int64_t part = 0; part < source.parts; ++part) {
    const auto made = [&](const Slice& slice, std::int64_t) {
      const std::int64_t n = elements(slice);
      write(p.data, {operand, part, slice}, bytes.data());
      decode(source.dtype, bytes.data(), n, values.data());
      in_units(values.data(), n, scale, integers.data());
      return integers.data();
    };
    weigh<Ring>(w, made, weights, sums);
    for (auto& sum : sums) sum = Ring::folded(sum);
  }
  return all_folded<Ring>(sums);
}

template <class Ring>
BlockSums<Ring> weigh_held(const Prover& p, const InPlace& block, const Weighing& w,
                           const std::vector<typename Ring::Weight>& weights) {
  std::optional<std::int64_t> bad;
  const DType dtype = result(p.c).dtype;
  const double scale = std::ldexp(1.0, -unit_exponent(p.data, 2));
  std::vector<typename Ring::Sum> sums(w.sums);
  std::vector<double> values(kChunk);
  std::vector<std::int64_t> integers(kChunk);
  const auto read = [&](const Slice& part, std::int64_t from) {
    const std::int64_t n = elements(part);
    decode(dtype, block.bytes.data() + from * format(dtype).bytes, n, values.data());
    if (in_units(values.data(), n, scale, integers.data()) || bad) return integers.data();
    for (std::int64_t i = 0, one = 0; i < n && !bad; ++i)
      if (!in_units(&values[i], 1, scale, &one)) bad = from + i;
    return integers.data();
  };
  weigh<Ring>(w, read, weights, sums);
  return {all_folded<Ring>(sums), bad};
}

// A product that is proved, by the letters' part in it, and who weighs it.
template <class Ring>
struct Statement {
  const Prover& prover;
  const Weigher<Ring>& weigher;
  Parts parts;
};

template <class Ring>
Sizes sizes_of(const Statement<Ring>& s, const Factors& f) {
  Sizes size{};
  for (std::size_t d = 0; d < f.out.size(); ++d) size[s.parts.words.out[d]] = f.out[d].size();
  return size;
}

// By the letters of an array's dimensions, of its sums and of its weights.
struct Roles {
  std::string array, sums, weights;
};
Weighing weighing(const Slice& slice, const Roles& roles, const Sizes& size) {
  return {slice, steps_of(roles.array, roles.sums, size), steps_of(roles.array, roles.weights, size),
          extent(roles.sums, size)};
}

template <class Ring>
void add(std::vector<typename Ring::Weight>& all, const std::vector<typename Ring::Weight>& more) {
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = Ring::plus(all[i], more[i]);
}

// A (B r): for each batch and row.
template <class Ring>
std::vector<typename Ring::Weight> wanted_sums(const Statement<Ring>& s, const Factors& f,
                                               const std::vector<typename Ring::Weight>& r) {
  const auto& [words, batch, rows, columns, summed] = s.parts;
  Sizes size = sizes_of(s, f);
  std::vector<typename Ring::Weight> sums(extent(batch + rows, size));
  for (const auto& [lhs, rhs] : f.pairs) {
    for (char letter : summed) size[letter] = lhs[words.operand[0].find(letter)].size();
    const auto inner =
        s.weigher.operand(1, weighing(rhs, {words.operand[1], batch + summed, columns}, size), r);
    add<Ring>(sums, s.weigher.operand(
                        0, weighing(lhs, {words.operand[0], batch + rows, batch + summed}, size), inner));
  }
  return sums;
}

// The same of one batch and row, with the index along these letters alone.
template <class Ring>
Factors narrowed(const Statement<Ring>& s, Factors f, const std::string& to, const Sizes& at) {
  const auto narrow = [&](const std::string& letters, Slice& slice) {
    for (std::size_t d = 0; d < letters.size(); ++d)
      if (to.find(letters[d]) != std::string::npos) slice[d] = {at[letters[d]], at[letters[d]] + 1};
  };
  narrow(s.parts.words.out, f.out);
  for (auto& pair : f.pairs)
    for (int i : {0, 1}) narrow(s.parts.words.operand[i], pair[i]);
  return f;
}

// What is wanted of one row, by its columns: with the row of A as weights every column of B is weighed.
template <class Ring>
std::vector<std::uint64_t> wanted_row(const Statement<Ring>& s, const Factors& f) {
  const auto& [words, batch, rows, columns, summed] = s.parts;
  Sizes size = sizes_of(s, f);
  std::vector<typename Ring::Weight> sums(extent(columns, size));
  for (const auto& [lhs, rhs] : f.pairs) {
    for (char letter : summed) size[letter] = lhs[words.operand[0].find(letter)].size();
    const auto row = s.weigher.operand(0, weighing(lhs, {words.operand[0], summed, ""}, size), {Ring::one()});
    add<Ring>(sums, s.weigher.operand(1, weighing(rhs, {words.operand[1], columns, summed}, size), row));
  }
  std::vector<std::uint64_t> wanted;
  for (const auto& sum : sums)
    wanted.push_back(encode(result(s.prover.c).dtype, std::ldexp(static_cast<double>(Ring::integer(sum)),
                                                                 unit_exponent(s.prover.data, 2))));
  return wanted;
}

std::int64_t element_of(const Slice& slice, const std::vector<std::int64_t>& index) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at = at * slice[d].size() + index[d] - slice[d].begin;
  return at;
}

template <class Ring>
Sizes by_letter(const Statement<Ring>& s, const std::vector<std::int64_t>& index) {
  Sizes at{};
  for (std::size_t d = 0; d < index.size(); ++d) at[s.parts.words.out[d]] = index[d];
  return at;
}

// An element that no sum of products is.
template <class Ring>
Proof refuted_at(const Statement<Ring>& s, const InPlace& block, const Factors& f, std::int64_t element) {
  const std::vector<std::int64_t> index = index_in(f.out, element);
  const Factors one = narrowed(s, f, s.parts.words.out, by_letter(s, index));
  return refuted(s.prover, index, wanted_row(s, one).front(), s.weigher.bits(block, element));
}

// The first wrong element of a row of which one is.
template <class Ring>
Proof refuted_row(const Statement<Ring>& s, const InPlace& block, const Factors& f, std::int64_t row) {
  const auto& [words, batch, rows, columns, summed] = s.parts;
  Sizes size = sizes_of(s, f), at{};
  const std::string kept = batch + rows;
  for (std::size_t d = kept.size(); d-- > 0; row /= size[kept[d]]) {
    at[kept[d]] = row % size[kept[d]];
    at[kept[d]] += f.out[words.out.find(kept[d])].begin;
  }
  const Factors one = narrowed(s, f, kept, at);
  const std::vector<std::uint64_t> wanted = wanted_row(s, one);
  const auto steps = steps_of(words.out, columns, size);
  for (std::int64_t i = 0; i < elements(one.out); ++i) {
    const std::vector<std::int64_t> index = index_in(one.out, i);
    Slice here;
    for (std::int64_t k : index) here.push_back({k, k + 1});
    const std::uint64_t want = wanted[place(here, one.out, steps)],
                        got = s.weigher.bits(block, element_of(f.out, index));
    if (!same_element(s.prover.c, want, got)) return refuted(s.prover, index, want, got);
  }
  assert(false);  // a row of right elements has the right sum
  return {};
}

// The part of a block that lies in f.out.
InPlace within(const InPlace& block, const Factors& f, DType dtype) {
  if (f.out.empty()) return block;
  const std::int64_t row = format(dtype).bytes * elements(f.out) / f.out[0].size();
  return {block.result, f.out,
          block.bytes.subspan((f.out[0].begin - block.slice[0].begin) * row, f.out[0].size() * row)};
}

template <class Ring>
std::vector<AwaitedSums<Ring>> awaited_by(const Prover& p, const Slice& slice, std::uint64_t seed,
                                          const Weigher<Ring>& weigher) {
  const Statement<Ring> s{p, weigher, parts_of(p.c.op)};
  const std::uint64_t key = mix(seed + kGolden);
  std::vector<AwaitedSums<Ring>> all;
  for (const Factors& f : factors_of(p.c, slice)) {
    AwaitedSums<Ring>& one = all.emplace_back();
    const std::int64_t columns = extent(s.parts.columns, sizes_of(s, f));
    for (std::int64_t j = 0; j < columns; ++j) one.r.push_back(Ring::draw(key, j));
    one.sums = wanted_sums(s, f, one.r);
  }
  return all;
}

template <class Ring>
Proof prove_by(const Prover& p, const InPlace& block, const std::vector<AwaitedSums<Ring>>& wanted,
               const Weigher<Ring>& weigher) {
  const Statement<Ring> s{p, weigher, parts_of(p.c.op)};
  const std::vector<Factors> factors = factors_of(p.c, block.slice);
  const Roles roles{s.parts.words.out, s.parts.batch + s.parts.rows, s.parts.columns};
  bool signs = false;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Factors& f = factors[i];
    const auto& [r, want] = wanted[i];
    const InPlace mine = within(block, f, result(p.c).dtype);
    const BlockSums<Ring> got = weigher.held(mine, weighing(f.out, roles, sizes_of(s, f)), r);
    if (got.bad) return refuted_at(s, mine, f, *got.bad);
    for (std::size_t row = 0; row < want.size(); ++row)
      if (!Ring::equal(want[row], got.sums[row], result(p.c).dtype))
        return refuted_row(s, mine, f, static_cast<std::int64_t>(row));
    signs |= got.signs;
  }
  return {.answer = Proof::Answer::proved, .text = std::string(Ring::law), .signs = signs};
}

}  // namespace

int unit_exponent(const Recipe& r, int which) {
  const auto* product = std::get_if<Product>(&r.data);
  return product && which != product->perturbed ? product->budget.unit.exponent : 0;
}

template <class Ring>
Weigher<Ring> weigher_here(const Prover& p) {
  using Weights = std::vector<typename Ring::Weight>;
  const DType dtype = result(p.c).dtype;
  return {[&p](int operand, const Weighing& w, const Weights& weights) {
            return weigh_operand<Ring>(p, operand, w, weights);
          },
          [&p](const InPlace& block, const Weighing& w, const Weights& weights) {
            return weigh_held<Ring>(p, block, w, weights);
          },
          [dtype](const InPlace& block, std::int64_t element) {
            return load(dtype, block.bytes.data() + element * format(dtype).bytes);
          }};
}
template Weigher<PrimeField> weigher_here(const Prover&);
template Weigher<WordLanes> weigher_here(const Prover&);

Awaited awaited(const Prover& p, const Slice& slice, std::uint64_t seed, const Ways& ways) {
  if (wraps(p.c)) return {slice, {}, awaited_by(p, slice, seed, ways.words)};
  return {slice, awaited_by(p, slice, seed, ways.prime)};
}

Proof prove_product(const Prover& p, const InPlace& block, const Awaited& wanted, const Ways& ways) {
  return wraps(p.c) ? prove_by(p, block, wanted.words, ways.words)
                    : prove_by(p, block, wanted.prime, ways.prime);
}

}  // namespace plumb
