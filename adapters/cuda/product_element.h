// One element of a product: its terms in ascending order, one rounding for each of its sums.
#pragma once

#include "adapters/cuda/work.h"
#include "reference/device/element_at.h"

namespace plumb::cuda {

constexpr int kProductHead = 6;  // the numbers before the letters

// A sum in T; where that is wider than the accumulate type it is rounded to it each time.
template <class T, bool rounds>
struct Sum {
  DType acc;
  T value = 0;
  static constexpr T of(double x) {
    if constexpr (static_cast<T>(-1) > T{0}) return static_cast<T>(static_cast<std::int64_t>(x));
    return static_cast<T>(x);
  }
  constexpr void add(double a, double b) {
    value += of(a) * of(b);
    if constexpr (rounds) value = once_rounded(acc, value);
  }
  constexpr double result() const {
    if constexpr (static_cast<T>(-1) > T{0}) return static_cast<std::int32_t>(value);
    return static_cast<double>(value);
  }
};

struct ProductElement {
  Products p;
  int lhs_width, rhs_width, out_width;

  struct Cursor {
    std::int64_t lhs = 0, rhs = 0;
    constexpr Cursor moved(const std::int64_t* letter, std::int64_t times) const {
      return {lhs + letter[1] * times, rhs + letter[2] * times};
    }
  };

  template <class Sums>
  constexpr void add_run(Sums& sum, const Cursor& at, const std::int64_t* letter,
                         const std::int64_t* run) const {
    for (std::int64_t k = run[0]; k < run[1]; ++k) {
      const Cursor term = at.moved(letter, k);
      sum.add(value_at(p.lhs_dtype, p.lhs + term.lhs * lhs_width),
              value_at(p.rhs_dtype, p.rhs + term.rhs * rhs_width));
    }
  }

  // Over all letters but the last at once, over the last one by one.
  template <class Sums>
  constexpr void add_all(Sums& sum, const Cursor& at, const std::int64_t* letters) const {
    std::int64_t outer = 1;
    for (int d = 0; d + 1 < p.summed; ++d) outer *= letters[3 * d];
    const std::int64_t none[] = {1, 0, 0};
    const std::int64_t* last = p.summed > 0 ? letters + 3 * (p.summed - 1) : none;
    const std::int64_t whole[] = {0, last[0]};
    for (std::int64_t o = 0; o < outer; ++o) {
      Cursor here = at;
      std::int64_t left = o;
      for (int d = p.summed - 1; d-- > 0; left /= letters[3 * d])
        here = here.moved(letters + 3 * d, left % letters[3 * d]);
      add_run(sum, here, last, whole);
    }
  }

  template <class Sums>
  constexpr double sum_of(Sums sum, const std::int64_t* head, std::int64_t element) const {
    const std::int64_t *letters = head + kProductHead, *summed = letters + 3 * p.letters;
    Cursor at;
    std::int64_t left = element, row = 0;
    for (int d = p.letters; d-- > 0; left /= letters[3 * d]) {
      const std::int64_t place = left % letters[3 * d];
      at = at.moved(letters + 3 * d, place);
      if (d == p.row) row = place;
    }
    const std::int64_t* said = p.numbers + head[3] + row;
    if (p.groups == Groups::none) {
      add_all(sum, at, summed);
    } else if (p.groups == Groups::of_rows) {
      if (*said >= 0) add_all(sum, {at.lhs + head[4] * *said, at.rhs + head[5] * *said}, summed);
    } else {
      const std::int64_t* runs = p.numbers + *said;
      for (std::int64_t r = 0; r < runs[0]; ++r) add_run(sum, at, summed, runs + 1 + 2 * r);
    }
    return sum.result();
  }

  constexpr void operator()(std::int64_t i) const {
    const Product& product = part_of(p.products, p.count, i);
    const std::int64_t* head = p.numbers + product.at;
    const std::int64_t element = i - product.first;
    ProductElement mine = *this;
    mine.p.lhs += head[0], mine.p.rhs += head[1];
    const double value = p.acc == DType::f32   ? mine.sum_of(Sum<float, false>{p.acc}, head, element)
                         : p.acc == DType::f64 ? mine.sum_of(Sum<double, false>{p.acc}, head, element)
                         : p.acc == DType::s32 || p.acc == DType::s8
                             ? mine.sum_of(Sum<std::uint32_t, false>{p.acc}, head, element)
                             : mine.sum_of(Sum<double, true>{p.acc}, head, element);
    put_value(p.acc, p.out + head[2] + element * out_width, value);
  }
};

}  // namespace plumb::cuda
