// Products and sums by the definition, one index after another, over small integers: the judge of the
// tests, with nothing of the code that it judges.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb::naive {

// A tensor of integers in [-most, most].
inline Tensor integers(DType dtype, std::vector<std::int64_t> shape, int most, std::mt19937_64& random) {
  Tensor t = zeros(dtype, std::move(shape));
  const int width = format(dtype).bytes;
  for (std::int64_t i = 0; i < elements(t.shape); ++i)
    store(dtype, t.bytes.data() + i * width,
          encode(dtype, static_cast<int>(random() % (2 * most + 1)) - most));
  return t;
}

// The operand of a case with its parts, if it is unfinished.
inline Tensor operand(const Case& c, int i, int most, std::mt19937_64& random) {
  const Spec& spec = c.op.operands[i];
  std::vector<std::int64_t> sizes = shape(spec);
  if (!spec.unfinished.empty()) sizes.insert(sizes.begin(), parts(c.mesh, spec));
  return integers(spec.dtype, sizes, most, random);
}

// The sum of the parts of element `index` of an operand.
inline std::int64_t finished(const Case& c, int i, const Tensor& t, std::int64_t index) {
  const Spec& spec = c.op.operands[i];
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < parts(c.mesh, spec); ++p)
    sum += static_cast<std::int64_t>(value(t, p * elements(spec) + index));
  return sum;
}

using Index = std::map<char, std::int64_t>;

inline std::int64_t flat(const std::string& letters, const Spec& spec, const Index& at) {
  std::int64_t i = 0;
  for (std::size_t d = 0; d < letters.size(); ++d) i = i * spec.dims[d].size + at.at(letters[d]);
  return i;
}

// Adds every product to the element of the result that its letters name.
inline std::vector<std::int64_t> einsum(const Case& c, const std::vector<Tensor>& operands) {
  const auto& [lhs, rhs, out] = std::get<Einsum>(c.op.kind);
  Index size;
  for (std::size_t d = 0; d < lhs.size(); ++d) size[lhs[d]] = c.op.operands[0].dims[d].size;
  for (std::size_t d = 0; d < rhs.size(); ++d) size[rhs[d]] = c.op.operands[1].dims[d].size;
  std::vector<std::int64_t> sums(elements(result(c)), 0);
  std::int64_t all = 1;
  for (const auto& [letter, n] : size) all *= n;
  for (std::int64_t i = 0; i < all; ++i) {
    Index at;
    std::int64_t rest = i;
    for (const auto& [letter, n] : size) at[letter] = rest % n, rest /= n;
    sums[flat(out, result(c), at)] += finished(c, 0, operands[0], flat(lhs, c.op.operands[0], at)) *
                                      finished(c, 1, operands[1], flat(rhs, c.op.operands[1], at));
  }
  return sums;
}

// The group of each row, or -1.
inline std::vector<int> groups(const Grouped& op, std::int64_t rows) {
  std::vector<int> group(rows, -1);
  for (std::size_t list = 0; list < op.sizes.size(); ++list) {
    std::int64_t row = rows / std::ssize(op.sizes) * static_cast<std::int64_t>(list);
    for (std::size_t g = 0; g < op.sizes[list].size(); ++g)
      for (std::int64_t i = 0; i < op.sizes[list][g]; ++i) group[row++] = static_cast<int>(g);
  }
  return group;
}

inline std::vector<std::int64_t> grouped(const Case& c, const std::vector<Tensor>& operands) {
  const Grouped& op = std::get<Grouped>(c.op.kind);
  const Spec &a = c.op.operands[0], &b = c.op.operands[1], &y = result(c);
  const auto group = groups(op, a.dims[0].size);
  std::vector<std::int64_t> sums(elements(y), 0);
  const std::int64_t inner = a.dims[1].size;
  const std::int64_t other = op.form == Form::fwd ? b.dims[2].size : b.dims[1].size;
  for (std::int64_t t = 0; t < a.dims[0].size; ++t) {
    if (group[t] < 0) continue;
    for (std::int64_t i = 0; i < inner; ++i)
      for (std::int64_t j = 0; j < other; ++j) {
        const std::int64_t first = finished(c, 0, operands[0], t * inner + i);
        const auto second = [&](std::int64_t at) { return first * finished(c, 1, operands[1], at); };
        const std::int64_t g = group[t];
        if (op.form == Form::fwd) sums[t * other + j] += second((g * inner + i) * other + j);
        if (op.form == Form::dgrad) sums[t * other + j] += second((g * other + j) * inner + i);
        if (op.form == Form::wgrad) sums[(g * inner + i) * other + j] += second(t * other + j);
      }
  }
  return sums;
}

inline std::vector<std::int64_t> values(const Tensor& t) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < elements(t.shape); ++i) all.push_back(static_cast<std::int64_t>(value(t, i)));
  return all;
}

}  // namespace plumb::naive
