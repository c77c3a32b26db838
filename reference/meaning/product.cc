#include "reference/meaning/product.h"

#include <array>
#include <cassert>
#include <cstring>

#include "reference/exact/exact.h"

namespace plumb {
namespace {

using Sizes = std::array<std::int64_t, 128>;  // of each letter

bool has_letter(std::string_view letters, char letter) { return letters.find(letter) != letters.npos; }

std::int64_t extent(std::string_view letters, const Sizes& size) {
  std::int64_t n = 1;
  for (char letter : letters) n *= size[letter];
  return n;
}

// The stride of a letter in a dense array of `letters`; 0 where it repeats.
std::int64_t stride(char letter, std::string_view letters, const Sizes& size) {
  const std::size_t at = letters.find(letter);
  return at == letters.npos ? 0 : extent(letters.substr(at + 1), size);
}

// The stride of `group` read as one index, the first letter major; nothing where they lie unevenly.
//   kn in bkn: 1     bk in bkn: n     bn in bkn: nothing     b in kn: 0
std::optional<std::int64_t> stride_as_one(std::string_view group, std::string_view letters,
                                          const Sizes& size) {
  std::optional<std::int64_t> step;
  std::int64_t next = 0;
  for (auto letter = group.rbegin(); letter != group.rend(); ++letter) {
    if (size[*letter] == 1) continue;
    const std::int64_t s = stride(*letter, letters, size);
    if (step && s != next) return std::nullopt;
    if (!step) step = s;
    next = s * size[*letter];
  }
  return step.value_or(0);
}

// The array with its letters in another order; a letter that it lacks repeats.
Tensor arrange(const Lettered& from, std::string_view order, const Sizes& size) {
  std::vector<std::int64_t> to_shape, steps, at(order.size(), 0);
  for (char letter : order) {
    to_shape.push_back(size[letter]);
    steps.push_back(stride(letter, from.letters, size));
  }
  Tensor to = zeros(from.values.dtype, to_shape);
  const int width = format(to.dtype).bytes;
  const std::int64_t n = elements(to.shape);
  const std::byte* source = from.values.bytes.data();
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(to.bytes.data() + i * width, source, width);
    for (std::size_t d = order.size(); d-- > 0;) {
      source += steps[d] * width;
      if (++at[d] < to_shape[d]) break;
      source -= steps[d] * to_shape[d] * width;
      at[d] = 0;
    }
  }
  return to;
}

// A batch of matrices: where the next begins, and the strides of one.
struct Strides {
  std::int64_t batch, row, col;
};
struct Indices {
  std::string_view batch, row, col;
};

std::optional<Strides> strides_in(std::string_view letters, const Indices& of, const Sizes& size) {
  const auto batch = stride_as_one(of.batch, letters, size), row = stride_as_one(of.row, letters, size),
             col = stride_as_one(of.col, letters, size);
  if (!batch || !row || !col) return std::nullopt;
  return Strides{*batch, *row, *col};
}

// A term as a batch of matrices, in place where its letters allow it, else a copy.
struct Matrices {
  std::optional<Tensor> copy;
  Strides strides;
};
Matrices matrices(const Lettered& term, const Indices& of, const Sizes& size) {
  if (const auto in_place = strides_in(term.letters, of, size)) return {{}, *in_place};
  const std::string order = std::string(of.batch) + std::string(of.row) + std::string(of.col);
  return {arrange(term, order, size), *strides_in(order, of, size)};
}

Sizes sizes_of(const Lettered& a, const Lettered& b) {
  Sizes size{};
  for (const Lettered* term : {&a, &b}) {
    assert(term->letters.size() == term->values.shape.size());
    for (std::size_t d = 0; d < term->letters.size(); ++d) size[term->letters[d]] = term->values.shape[d];
  }
  return size;
}

// What a letter is to the product: in both terms and the result, in one term and the result, summed.
struct Roles {
  std::string batch, rows, cols, summed;
};
Roles roles_of(const Lettered& a, const Lettered& b, const Summed& wanted) {
  Roles roles;
  for (char letter : wanted.letters)
    (!has_letter(b.letters, letter)   ? roles.rows
     : !has_letter(a.letters, letter) ? roles.cols
                                      : roles.batch) += letter;
  for (char letter : a.letters + b.letters)
    if (!has_letter(wanted.letters, letter) && !has_letter(roles.summed, letter)) roles.summed += letter;
  return roles;
}

}  // namespace

Tensor product(const Lettered& a, const Lettered& b, const Summed& wanted) {
  const Sizes size = sizes_of(a, b);
  const auto [batch, rows, cols, summed] = roles_of(a, b, wanted);
  const Matrices left = matrices(a, {batch, rows, summed}, size);
  const Matrices right = matrices(b, {batch, summed, cols}, size);
  const Tensor &lhs = left.copy ? *left.copy : a.values, &rhs = right.copy ? *right.copy : b.values;

  const auto in_place = strides_in(wanted.letters, {batch, rows, cols}, size);
  const std::string order = in_place ? wanted.letters : batch + rows + cols;
  const Strides to = in_place ? *in_place : *strides_in(order, {batch, rows, cols}, size);
  std::vector<std::int64_t> shape;
  for (char letter : order) shape.push_back(size[letter]);
  Tensor out = zeros(wanted.dtype, std::move(shape));

  const std::int64_t m = extent(rows, size), k = extent(summed, size), n = extent(cols, size);
  const auto at = [](auto& tensor, std::int64_t i) {
    return tensor.bytes.data() + i * format(tensor.dtype).bytes;
  };
  for (std::int64_t i = 0; i < extent(batch, size) && m * n > 0; ++i)
    matmul({at(lhs, i * left.strides.batch), lhs.dtype, m, k, left.strides.row, left.strides.col},
           {at(rhs, i * right.strides.batch), rhs.dtype, k, n, right.strides.row, right.strides.col},
           wanted.acc, {at(out, i * to.batch), out.dtype, m, n, to.row, to.col});
  if (in_place) return out;
  return arrange({out, order}, wanted.letters, size);
}

}  // namespace plumb
