// Computations of scalars run for many elements at once: reductions, windows, scatters, sorts, maps.
//
// Each element is a lane: the scalars that stand for the running values have as many lanes as there are
// results, and one evaluation of the computation takes one step for all of them.
#pragma once

#include <numeric>

#include "reference/hlo/run/elementwise.h"
#include "reference/hlo/run/lanes.h"
#include "reference/hlo/run/maps.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {

template <typename Numbers>
using Arrays = std::vector<Array<typename Numbers::Number>>;

// What the computation gives for these scalars; with one lane or as many as there are.
template <typename Numbers>
Arrays<Numbers> apply(const Machine<Numbers>& machine, const Computation& computation,
                      Arrays<Numbers> scalars) {
  using Number = typename Numbers::Number;
  Machine<Numbers> inner{machine.module, machine.numbers, 0, machine.within, machine.paths};
  inner.pulse.pause = machine.pulse.pause;
  if (machine.pulse.pause) machine.pulse.pause();
  std::vector<Value<Number>> arguments;
  for (auto& scalar : scalars) arguments.push_back(value(std::move(scalar)));
  const Value<Number> result = evaluate(inner, computation, std::move(arguments), {});
  Arrays<Numbers> parts;
  if (result.array) parts.push_back(*result.array);
  for (const Value<Number>& part : result.parts) {
    require(part.array != nullptr, "a tuple of scalars");
    parts.push_back(*part.array);
  }
  return parts;
}

// The computation's operation where it is one, of its two parameters.
inline std::optional<Opcode> only_operation(const Computation& f) {
  const Instruction& root = f.instructions[static_cast<std::size_t>(f.root)];
  if (f.parameters.size() != 2 || root.operands.size() != 2) return std::nullopt;
  if (root.opcode < Opcode::add || root.opcode > Opcode::xor_) return std::nullopt;
  const bool in_order = root.operands == f.parameters;
  return in_order ? std::optional(root.opcode) : std::nullopt;
}

// sums = f(sums, next): a step of a reduction, in all lanes.
template <typename Numbers>
void step(const Machine<Numbers>& machine, const Computation& f, Arrays<Numbers>& sums,
          Arrays<Numbers> next) {
  require(f.parameters.size() == 2 * sums.size() && sums.size() == next.size(),
          "a computation of as many scalars as there are operands, twice");
  if (const auto operation = only_operation(f); operation && sums.size() == 1) {
    if (machine.pulse.pause) machine.pulse.pause();
    sums[0] = binary(machine, *operation, sums[0], next[0]);
    return;
  }
  const Arrays<Numbers> before = sums;
  Arrays<Numbers> scalars = std::move(sums);
  for (auto& one : next) scalars.push_back(std::move(one));
  sums = apply(machine, f, std::move(scalars));
  require(sums.size() == before.size(), "a computation with a result for each operand");
  for (std::size_t i = 0; i < sums.size(); ++i) {
    require(sums[i].dims.empty() && sums[i].type == before[i].type, "scalars of the operands' types");
    if (sums[i].lanes == before[i].lanes) continue;
    sums[i] = spread_lanes(sums[i], before[i].lanes);
  }
}

// A value of one lane in so many.
template <typename Number>
Array<Number> spread_lanes(const Array<Number>& a, std::int64_t lanes) {
  if (a.lanes == lanes) return a;
  require(a.lanes == 1, "operands of different devices");
  Array<Number> result{a.type, a.dims, lanes, {}, {}};
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.reserve(from.size() * static_cast<std::size_t>(lanes));
    for (std::int64_t lane = 0; lane < lanes; ++lane) to.insert(to.end(), from.begin(), from.end());
  });
  return result;
}

// Of each of the first `lanes` lanes the elements that the map names, counted from `first` on; where it names
// none, the first; all of them as scalars.
template <typename Number>
Array<Number> scalars(const Array<Number>& a, std::int64_t lanes, const Integers& map,
                      std::int64_t first = 0) {
  Array<Number> result{a.type, {}, lanes * std::ssize(map), {}, {}};
  const std::int64_t size = count(a.dims);
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    to.reserve(static_cast<std::size_t>(result.lanes));
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto* elements = from.data() + begin_of(a, lane, size) + first;
      for (const std::int64_t at : map) to.push_back(elements[std::max<std::int64_t>(at, 0)]);
    }
  });
  return result;
}

// The initial scalars, one for each of `each` results in every lane.
template <typename Number>
Array<Number> initial(const Array<Number>& init, std::int64_t lanes, std::int64_t each) {
  require(init.dims.empty(), "initial values are scalars");
  return scalars(init, lanes, Integers(static_cast<std::size_t>(each), 0));
}

// The first half of the operands, of one extent, and the second, scalars; the lanes of all.
template <typename Number>
std::int64_t check_reduction(const Pointers<Number>& operands) {
  const std::size_t n = operands.size() / 2;
  require(operands.size() == 2 * n && n > 0, "an initial value for each operand");
  std::int64_t lanes = 1;
  for (const auto* a : operands) {
    require(a->lanes == 1 || lanes == 1 || a->lanes == lanes, "operands of different devices");
    lanes = std::max(lanes, a->lanes);
  }
  for (std::size_t i = 0; i < n; ++i)
    require(operands[i]->dims == operands[0]->dims && operands[i]->type == operands[n + i]->type &&
                operands[n + i]->dims.empty(),
            "operands of one extent, and an initial value of the type of each");
  return lanes;
}

// Scalars in lanes as an array again.
template <typename Number>
Array<Number> gathered(Array<Number> a, const Integers& dims, std::int64_t lanes) {
  a.dims = dims, a.lanes = lanes;
  return a;
}

// A reduction by one operation: each line's elements, one after the other.
template <typename Numbers>
Array<typename Numbers::Number> folded(const Machine<Numbers>& machine, Opcode operation,
                                       const Matrices& places, const Array<typename Numbers::Number>& a,
                                       const Array<typename Numbers::Number>& init, const Integers& extents) {
  using Number = typename Numbers::Number;
  Array<Number> result{a.type, extents, common_lanes({&a, &init}), {}, {}};
  const std::int64_t size = count(a.dims), lines = std::ssize(places.lines);
  result.reals.resize(static_cast<std::size_t>(result.lanes * lines));
  each_part(
      result.lanes * lines, std::ssize(places.terms),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) {
          const Number* line = a.reals.data() + begin_of(a, n / lines, size) +
                               places.lines[static_cast<std::size_t>(n % lines)];
          Number& sum = result.reals[static_cast<std::size_t>(n)];
          sum = init.reals[static_cast<std::size_t>(begin_of(init, n / lines, 1))];
          for (const std::int64_t term : places.terms)
            machine.numbers.binary(operation, &sum, line + term, &sum, 1);
        }
      },
      machine.pulse.pause);
  return result;
}

template <typename Numbers>
Arrays<Numbers> reduce(const Machine<Numbers>& machine, const Instruction& i,
                       const Pointers<typename Numbers::Number>& operands) {
  const std::size_t n = operands.size() / 2;
  const std::int64_t lanes = check_reduction(operands);
  const Integers& dims = operands[0]->dims;
  const auto inner = get<Integers>(i, Key::dimensions);
  const Integers outer = others(dims.size(), {&inner});
  const Matrices places = matrices(dims, outer, inner);
  Integers extents;
  for (const std::int64_t d : outer) extents.push_back(dims[static_cast<std::size_t>(d)]);
  const Computation& f = called(machine, i, Key::to_apply);
  if (const auto operation = only_operation(f); operation && n == 1 && is_real(operands[0]->type))
    return {folded(machine, *operation, places, *operands[0], *operands[1], extents)};
  Arrays<Numbers> sums;
  for (std::size_t k = 0; k < n; ++k) sums.push_back(initial(*operands[n + k], lanes, count(extents)));
  for (const std::int64_t term : places.terms) {
    Arrays<Numbers> next;
    for (std::size_t k = 0; k < n; ++k) next.push_back(scalars(*operands[k], lanes, places.lines, term));
    step(machine, f, sums, std::move(next));
  }
  for (auto& sum : sums) sum = gathered(std::move(sum), extents, lanes);
  return sums;
}

template <typename Numbers>
Arrays<Numbers> reduce_window(const Machine<Numbers>& machine, const Instruction& i,
                              const Pointers<typename Numbers::Number>& operands) {
  const std::size_t n = operands.size() / 2;
  const std::int64_t lanes = check_reduction(operands);
  const Integers& dims = operands[0]->dims;
  auto window = get<std::vector<WindowDim>>(i, Key::window);
  if (window.empty()) window.resize(dims.size());
  const Integers extents = i.shape.type == Type::tuple ? i.shape.parts.at(0).dims : i.shape.dims;
  require(extents == windows_of(dims, window), "the result has a place for each window");
  Integers sizes;
  for (const WindowDim& w : window) sizes.push_back(w.size);
  Arrays<Numbers> sums;
  for (std::size_t k = 0; k < n; ++k) sums.push_back(initial(*operands[n + k], lanes, count(extents)));
  each_index(sizes, [&](const Integers& place) {
    const Integers map = window_map(dims, window, extents, place);
    Array<typename Numbers::Number> inside{Type::pred, {}, lanes * std::ssize(map), {}, {}};
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      for (const std::int64_t from : map) inside.integers.push_back(from >= 0);
    Arrays<Numbers> next, with = sums;
    for (std::size_t k = 0; k < n; ++k) next.push_back(scalars(*operands[k], lanes, map));
    step(machine, called(machine, i, Key::to_apply), with, std::move(next));
    for (std::size_t k = 0; k < n; ++k) sums[k] = select(inside, with[k], sums[k]);
  });
  for (auto& sum : sums) sum = gathered(std::move(sum), extents, lanes);
  return sums;
}

// Update u falls on the element `target(lane, u)` of a lane, or on none (-1): result = f(result, update), one
// update after the other, in all lanes at once.
template <typename Numbers, typename Target>
void update(const Machine<Numbers>& machine, const Computation& f, Arrays<Numbers>& result,
            const Pointers<typename Numbers::Number>& updates, Target target) {
  using Number = typename Numbers::Number;
  const std::int64_t size = count(result[0].dims), last = count(updates[0]->dims);
  for (std::int64_t u = 0; u < last; ++u) {
    Integers hit, at;  // the lanes in which it falls on an element, and which
    for (std::int64_t lane = 0; lane < result[0].lanes; ++lane)
      if (const std::int64_t to = target(lane, u); to >= 0)
        hit.push_back(lane), at.push_back(lane * size + to);
    if (hit.empty()) continue;
    Arrays<Numbers> sums, next;
    for (std::size_t k = 0; k < result.size(); ++k) {
      sums.push_back({result[k].type, {}, std::ssize(hit), {}, {}});
      next.push_back(sums.back());
      visit(result[k], [&](const auto& from) {
        const Array<Number>& all = *updates[k];
        for (std::size_t h = 0; h < hit.size(); ++h) {
          elements_of(sums[k], from).push_back(from[static_cast<std::size_t>(at[h])]);
          elements_of(next[k], from)
              .push_back(elements_of(all, from)[static_cast<std::size_t>(begin_of(all, hit[h], last) + u)]);
        }
      });
    }
    step(machine, f, sums, std::move(next));
    for (std::size_t k = 0; k < result.size(); ++k)
      visit(sums[k], [&](const auto& from) {
        for (std::size_t h = 0; h < hit.size(); ++h)
          elements_of(result[k], from)[static_cast<std::size_t>(at[h])] = from[h];
      });
  }
}

template <typename Numbers>
Arrays<Numbers> scatter(const Machine<Numbers>& machine, const Instruction& i,
                        const Pointers<typename Numbers::Number>& operands) {
  using Number = typename Numbers::Number;
  const std::size_t n = operands.size() / 2;
  require(operands.size() == 2 * n + 1, "indices, and updates for each operand");
  const Array<Number>&indices = *operands[n], &first = *operands[0], &updates = *operands[n + 1];
  require(is_integer(indices.type), "integers that index");
  const auto shape = [](const Array<Number>& a) { return Shape{a.type, a.dims, {}, {}, {}}; };
  const Indexing indexing = scatter_indexing(i, shape(first), shape(indices), shape(updates));
  std::int64_t lanes = 1;
  for (const auto* a : operands) lanes = std::max(lanes, a->lanes);
  Arrays<Numbers> result;
  for (std::size_t k = 0; k < n; ++k) {
    require(operands[k]->dims == first.dims && operands[n + 1 + k]->dims == updates.dims &&
                operands[k]->type == operands[n + 1 + k]->type,
            "operands of one extent, and updates of the type of each");
    result.push_back(spread_lanes(*operands[k], lanes));
  }
  std::vector<Integers> maps;
  for (std::int64_t lane = 0; lane < indices.lanes; ++lane)
    maps.push_back(indexed_map(indexing, indices.integers.data() + lane * count(indices.dims), false));
  update(machine, called(machine, i, Key::to_apply), result, {operands.begin() + n + 1, operands.end()},
         [&](std::int64_t lane, std::int64_t u) {
           return maps[indices.lanes == 1 ? 0 : static_cast<std::size_t>(lane)][static_cast<std::size_t>(u)];
         });
  return result;
}

// Of each window the element that `select` prefers to those before it: where it lies in the operand, for all
// lanes; -1 where no element is in the window.
template <typename Numbers>
std::vector<Integers> preferred(const Machine<Numbers>& machine, const Instruction& i,
                                const Array<typename Numbers::Number>& operand, std::int64_t lanes) {
  using Number = typename Numbers::Number;
  auto window = get<std::vector<WindowDim>>(i, Key::window);
  if (window.empty()) window.resize(operand.dims.size());
  const Integers windows = windows_of(operand.dims, window);
  Integers sizes;
  for (const WindowDim& w : window) sizes.push_back(w.size);
  const auto each = static_cast<std::size_t>(count(windows));
  std::vector<Integers> at(static_cast<std::size_t>(lanes), Integers(each, -1));
  Array<Number> held = initial(Array<Number>{operand.type, {}, 1, {0}, {machine.numbers.constant(0)}}, lanes,
                               static_cast<std::int64_t>(each));
  each_index(sizes, [&](const Integers& place) {
    const Integers map = window_map(operand.dims, window, windows, place);
    const Array<Number> next = scalars(operand, lanes, map);
    const Arrays<Numbers> stays = apply(machine, called(machine, i, Key::select), {held, next});
    require(stays.size() == 1 && stays[0].type == Type::pred, "select= says which of two");
    doubt_undecided(machine.numbers, stays[0]);
    const Array<Number> keeps = spread_lanes(stays[0], held.lanes);
    Array<Number> other{Type::pred, {}, held.lanes, {}, {}};
    for (std::size_t n = 0; n < keeps.integers.size(); ++n) {
      std::int64_t& best = at[n / each][n % each];
      const bool is = map[n % each] >= 0 && (best < 0 || !(keeps.integers[n] & 1));
      if (is) best = map[n % each];
      other.integers.push_back(is);
    }
    held = select(other, next, held);
  });
  return at;
}

// The value of every window of the source falls on the element of the operand that the window prefers.
template <typename Numbers>
Array<typename Numbers::Number> select_and_scatter(const Machine<Numbers>& machine, const Instruction& i,
                                                   const Pointers<typename Numbers::Number>& operands) {
  using Number = typename Numbers::Number;
  const Array<Number>&operand = *operands[0], &source = *operands[1], &init = *operands[2];
  require(operand.type == source.type && operand.type == init.type && init.dims.empty(),
          "a source and an initial value of the operand's type");
  const std::int64_t lanes = common_lanes({&operand, &source, &init});
  const std::vector<Integers> at = preferred(machine, i, operand, lanes);
  require(std::ssize(at[0]) == count(source.dims), "the source has a place for each window");
  Arrays<Numbers> result = {gathered(initial(init, lanes, count(operand.dims)), operand.dims, lanes)};
  update(machine, called(machine, i, Key::scatter), result, {&source},
         [&](std::int64_t lane, std::int64_t u) {
           return at[static_cast<std::size_t>(lane)][static_cast<std::size_t>(u)];
         });
  return std::move(result[0]);
}

// A computation of scalars over arrays, element by element.
template <typename Numbers>
Arrays<Numbers> map(const Machine<Numbers>& machine, const Instruction& i,
                    const Pointers<typename Numbers::Number>& operands) {
  std::int64_t lanes = 1;
  for (const auto* a : operands) lanes = std::max(lanes, a->lanes);
  Integers all(static_cast<std::size_t>(count(operands.at(0)->dims)));
  std::iota(all.begin(), all.end(), 0);
  Arrays<Numbers> flat;
  for (const auto* a : operands) {
    require(a->dims == i.shape.dims && (a->lanes == 1 || a->lanes == lanes), "operands of one extent");
    flat.push_back(scalars(*a, lanes, all));
  }
  Arrays<Numbers> result = apply(machine, called(machine, i, Key::to_apply), std::move(flat));
  require(result.size() == 1, "one result");
  return {gathered(spread_lanes(result[0], lanes * std::ssize(all)), i.shape.dims, lanes)};
}

}  // namespace plumb::hlo
