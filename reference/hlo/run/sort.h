// Sorting by a computation that compares: a network of exchanges, each a step for all rows at once.
#pragma once

#include "reference/hlo/run/fold.h"

namespace plumb::hlo {

// The exchanges of Batcher's odd-even merge sort of n elements, in rounds: those of a round touch no element
// twice.
inline std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> exchanges(std::int64_t n) {
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> rounds;
  for (std::int64_t p = 1; p < n; p *= 2)
    for (std::int64_t k = p; k >= 1; k /= 2) {
      auto& round = rounds.emplace_back();
      for (std::int64_t j = k % p; j + k < n; j += 2 * k)
        for (std::int64_t i = 0; i < std::min(k, n - j - k); ++i)
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) round.emplace_back(i + j, i + j + k);
    }
  return rounds;
}

// The elements of all operands, one row a lane and line: which element of the operand stands at each place of
// a row.
template <typename Numbers>
struct Rows {
  const Machine<Numbers>& machine;
  const Computation& less;
  const Pointers<typename Numbers::Number>& operands;
  std::int64_t lanes = 1, length = 0;
  Integers map;    // [lines][length] elements
  Integers order;  // [lanes][lines][length] places
};

// Whether the computation puts the first of each pair of places before the second; the pairs are given in
// order.
template <typename Numbers>
Integers before(const Rows<Numbers>& rows, const Integers& firsts, const Integers& seconds) {
  Arrays<Numbers> scalars;
  const std::int64_t size = count(rows.operands[0]->dims), lines = std::ssize(rows.map) / rows.length;
  for (const auto* a : rows.operands)
    for (const Integers* side : {&firsts, &seconds}) {
      Array<typename Numbers::Number>& one = scalars.emplace_back();
      one.type = a->type, one.lanes = std::ssize(*side);
      visit(*a, [&](const auto& from) {
        auto& to = elements_of(one, from);
        for (const std::int64_t place : *side) {
          const std::int64_t row = place / rows.length, lane = row / lines, line = row % lines;
          const std::int64_t element = rows.map[static_cast<std::size_t>(
              line * rows.length + rows.order[static_cast<std::size_t>(place)])];
          to.push_back(from[static_cast<std::size_t>(begin_of(*a, lane, size) + element)]);
        }
      });
    }
  const auto answer = apply(rows.machine, rows.less, std::move(scalars));
  require(answer.size() == 1 && answer[0].type == Type::pred, "a computation whose result is a predicate");
  doubt_undecided(rows.machine.numbers, answer[0]);
  Integers all = spread_lanes(answer[0], std::ssize(firsts)).integers;
  for (std::int64_t& one : all) one &= 1;
  return all;
}

template <typename Numbers>
void exchange(Rows<Numbers>& rows, const std::vector<std::pair<std::int64_t, std::int64_t>>& round) {
  Integers firsts, seconds;
  for (std::int64_t row = 0; row < std::ssize(rows.order) / rows.length; ++row)
    for (const auto& [a, b] : round)
      firsts.push_back(row * rows.length + a), seconds.push_back(row * rows.length + b);
  if (firsts.empty()) return;
  const Integers up = before(rows, firsts, seconds), down = before(rows, seconds, firsts);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    std::int64_t &a = rows.order[static_cast<std::size_t>(firsts[i])],
                 &b = rows.order[static_cast<std::size_t>(seconds[i])];
    if (down[i] || (!up[i] && b < a)) std::swap(a, b);  // what compares equal stays in its order
  }
}

template <typename Numbers>
Arrays<Numbers> sort(const Machine<Numbers>& machine, const Instruction& i,
                     const Pointers<typename Numbers::Number>& operands) {
  using Number = typename Numbers::Number;
  const Integers& dims = operands[0]->dims;
  const auto along = get<Integers>(i, Key::dimensions);
  require(along.size() == 1 && along[0] >= 0 && along[0] < std::ssize(dims), "one dimension of the operands");
  Rows<Numbers> rows{machine, called(machine, i, Key::to_apply),        operands,
                     1,       dims[static_cast<std::size_t>(along[0])], {},
                     {}};
  for (const auto* a : operands) {
    require(a->dims == dims, "operands of one extent");
    require(a->lanes == 1 || rows.lanes == 1 || a->lanes == rows.lanes, "operands of different devices");
    rows.lanes = std::max(rows.lanes, a->lanes);
  }
  rows.map = listed(matrices(dims, others(dims.size(), {&along}), along));
  for (std::int64_t n = 0; n < rows.lanes * std::ssize(rows.map); ++n) rows.order.push_back(n % rows.length);
  for (const auto& round : exchanges(rows.length)) exchange(rows, round);
  Arrays<Numbers> result;
  for (const auto* a : operands) {
    Array<Number>& sorted = result.emplace_back(spread_lanes(*a, rows.lanes));
    visit(*a, [&](const auto& from) {
      const std::int64_t size = std::ssize(rows.map);
      for (std::int64_t n = 0; n < std::ssize(rows.order); ++n) {
        const std::int64_t lane = n / size, place = n % size, line = place / rows.length;
        const std::int64_t source =
            rows.map[static_cast<std::size_t>(line * rows.length + rows.order[static_cast<std::size_t>(n)])];
        elements_of(sorted,
                    from)[static_cast<std::size_t>(lane * size + rows.map[static_cast<std::size_t>(place)])] =
            from[static_cast<std::size_t>(begin_of(*a, lane, size) + source)];
      }
    });
  }
  return result;
}

// The k largest (or smallest) of the last dimension with their places, those that compare equal in their
// order.
template <typename Numbers>
Arrays<Numbers> topk(const Machine<Numbers>& machine, const Instruction& i,
                     const Array<typename Numbers::Number>& a) {
  using Number = typename Numbers::Number;
  const auto k = get<std::int64_t>(i, Key::k);
  require(!a.dims.empty() && k >= 0 && k <= a.dims.back() && i.shape.parts.size() == 2,
          "k of the last dimension");
  const std::int64_t length = a.dims.back();
  const Ordering first = get<bool>(i, Key::largest) ? Ordering::greater : Ordering::less;
  Array<Number> values{a.type, a.dims, a.lanes, {}, {}},
      places{i.shape.parts[1].type, a.dims, a.lanes, {}, {}};
  require(is_integer(places.type), "places are integers");
  values.dims.back() = places.dims.back() = k;
  visit(a, [&](const auto& from) {
    Integers order(static_cast<std::size_t>(length));
    Pace pace{machine.pulse.pause};
    for (std::int64_t row = 0; length > 0 && row < std::ssize(from) / length; ++row) {
      std::iota(order.begin(), order.end(), row * length);
      const auto before = [&](std::int64_t x, std::int64_t y) {
        const auto X = static_cast<std::size_t>(x), Y = static_cast<std::size_t>(y);
        if (is_real(a.type)) return machine.numbers.compare(a.reals[X], a.reals[Y], true) == first;
        const int c = integer_compare(a.type, a.integers[X], a.integers[Y]);
        return first == Ordering::greater ? c > 0 : c < 0;
      };
      std::ranges::stable_sort(order, before);
      for (std::int64_t n = 0; n < k; ++n) {
        elements_of(values, from)
            .push_back(from[static_cast<std::size_t>(order[static_cast<std::size_t>(n)])]);
        places.integers.push_back(order[static_cast<std::size_t>(n)] - row * length);
      }
      pace(length * kFunctionCost);
    }
  });
  return {values, places};
}

}  // namespace plumb::hlo
