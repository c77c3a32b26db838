// Operations that go element by element.
#pragma once

#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/machine.h"
#include "reference/hlo/run/maps.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {

constexpr std::int64_t kFunctionCost = 8;  // as many multiplications as an element takes, or so

// out[i] = f(a[i]...) over all lanes; an operand of one lane is read again for each.
template <typename Out, typename Number, typename F, typename... In>
void each_element(const Pause& pause, Array<Number>& result, Out& out, F f, const In&... operands) {
  const std::int64_t size = count(result.dims);
  out.resize(static_cast<std::size_t>(result.lanes * size));
  each_part(
      std::ssize(out), kFunctionCost,
      [&](std::int64_t begin, std::int64_t end) {
        each_lane(begin, end, size, [&](std::int64_t lane, std::int64_t from, std::int64_t to) {
          auto* results = out.data() + lane * size;
          const auto run = [&](const auto*... given) {
            for (std::int64_t i = from; i < to; ++i) results[i] = f(given[i]...);
          };
          run((operands.second->data() + begin_of(*operands.first, lane, size))...);
        });
      },
      pause);
}

template <typename Number>
auto reals(const Array<Number>& array) {
  return std::pair{&array, &array.reals};
}
template <typename Number>
auto integers(const Array<Number>& array) {
  return std::pair{&array, &array.integers};
}

template <typename Numbers>
auto unary(const Machine<Numbers>& machine, const Instruction& i, const Array<typename Numbers::Number>& a) {
  using Number = typename Numbers::Number;
  Numbers& numbers = machine.numbers;
  auto result = like<Number>(i.shape, a.lanes);
  require(a.dims == i.shape.dims, "the result has the operand's extents");
  if (i.opcode == Opcode::is_finite) {
    require(is_real(a.type) && i.shape.type == Type::pred, "a predicate of floats");
    each_element(
        machine.pulse.pause, result, result.integers, [&](const Number& x) { return numbers.finite(x); },
        reals(a));
    return result;
  }
  require(a.type == i.shape.type, "the result has the operand's type");
  if (is_real(a.type))
    each_element(
        machine.pulse.pause, result, result.reals,
        [&](const Number& x) { return numbers.unary(i.opcode, x); }, reals(a));
  else
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](std::int64_t x) { return integer_unary(i.opcode, a.type, x); }, integers(a));
  return result;
}

template <typename Numbers>
auto binary(const Machine<Numbers>& machine, Opcode opcode, const Array<typename Numbers::Number>& a,
            const Array<typename Numbers::Number>& b) {
  using Number = typename Numbers::Number;
  require(a.dims == b.dims && a.type == b.type, "operands of one shape");
  Array<Number> result{a.type, a.dims, common_lanes({&a, &b}), {}, {}};
  const std::int64_t size = count(a.dims);
  if (is_real(a.type)) {
    result.reals.resize(static_cast<std::size_t>(result.lanes * size));
    const std::int64_t together = a.lanes == b.lanes ? result.lanes * size : size;
    each_part(
        std::ssize(result.reals), kFunctionCost,
        [&](std::int64_t begin, std::int64_t end) {
          each_lane(begin, end, together, [&](std::int64_t lane, std::int64_t from, std::int64_t to) {
            machine.numbers.binary(opcode, a.reals.data() + begin_of(a, lane, size) + from,
                                   b.reals.data() + begin_of(b, lane, size) + from,
                                   result.reals.data() + lane * size + from, to - from);
          });
        },
        machine.pulse.pause);
  } else {
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](std::int64_t x, std::int64_t y) { return integer_binary(opcode, a.type, x, y); }, integers(a),
        integers(b));
  }
  return result;
}

inline bool holds(const std::string& direction, Ordering order) {
  static constexpr std::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const bool less = order == Ordering::less, equal = order == Ordering::equal,
             more = order == Ordering::greater;
  const bool answers[] = {equal, !equal, less, less || equal, more, more || equal};
  for (std::size_t d = 0; d < 6; ++d)
    if (kDirections[d] == direction) return answers[d];
  throw Misfit("direction= is EQ, NE, LT, LE, GT or GE");
}

template <typename Numbers>
auto compare(const Machine<Numbers>& machine, const Instruction& i, const Array<typename Numbers::Number>& a,
             const Array<typename Numbers::Number>& b) {
  using Number = typename Numbers::Number;
  require(a.dims == b.dims && a.dims == i.shape.dims && a.type == b.type && i.shape.type == Type::pred,
          "a predicate of two operands of one shape");
  const auto direction = get<std::string>(i, Key::direction);
  const bool total = get<std::string>(i, Key::type) == "TOTALORDER";
  bool answers[4];
  for (int order = 0; order < 4; ++order) answers[order] = holds(direction, static_cast<Ordering>(order));
  auto result = like<Number>(i.shape, common_lanes({&a, &b}));
  const auto answer = [&](Ordering order) -> std::int64_t { return answers[static_cast<int>(order)]; };
  const auto ordered = [&](std::int64_t x, std::int64_t y) {
    return answer(static_cast<Ordering>(integer_compare(a.type, x, y) + 1));
  };
  if (is_real(a.type))
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](const Number& x, const Number& y) {
          return answer(machine.numbers.likely(x, y, total)) | (machine.numbers.open(x, y) ? kUndecided : 0);
        },
        reals(a), reals(b));
  else if (a.type == Type::pred)
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](std::int64_t x, std::int64_t y) { return either_way(ordered, x, y); }, integers(a), integers(b));
  else
    each_element(machine.pulse.pause, result, result.integers, ordered, integers(a), integers(b));
  return result;
}

// A scalar in the extents of another array.
template <typename Number>
Array<Number> spread(const Array<Number>& a, const Integers& dims) {
  if (a.dims == dims) return a;
  require(a.dims.empty(), "a scalar, or as many elements as the others");
  const std::int64_t size = count(dims);
  Array<Number> result{a.type, dims, a.lanes, {}, {}};
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    for (const auto& x : from) to.insert(to.end(), static_cast<std::size_t>(size), x);
  });
  return result;
}

// `either` says what is chosen where the predicate is undecided: f(whether the first is likelier, x, y).
template <typename Number, typename F>
Array<Number> select(const Array<Number>& which, const Array<Number>& a, const Array<Number>& b, F either) {
  require(which.type == Type::pred && a.type == b.type && a.dims == b.dims,
          "a predicate and two of one shape");
  const Array<Number> predicate = spread(which, a.dims);
  Array<Number> result{a.type, a.dims, common_lanes({&predicate, &a, &b}), {}, {}};
  visit(a, [&](const auto& from) {
    auto& to = elements_of(result, from);
    const auto& other = elements_of(b, from);
    each_element(
        {}, result, to,
        [&](std::int64_t p, const auto& x, const auto& y) {
          return is_undecided(p) ? either(p & 1, x, y) : p ? x : y;
        },
        integers(predicate), std::pair{&a, &from}, std::pair{&b, &other});
  });
  return result;
}

template <typename Number>
Array<Number> select(const Array<Number>& which, const Array<Number>& a, const Array<Number>& b) {
  return select(which, a, b, [](bool first, const auto& x, const auto& y) { return first ? x : y; });
}

// What hangs on predicates that are undecided, and is no float's: it is in doubt.
template <typename Numbers>
void doubt_undecided(Numbers& numbers, const Array<typename Numbers::Number>& a) {
  if (a.type != Type::pred) return;
  for (const std::int64_t x : a.integers)
    if (is_undecided(x)) numbers.doubt();
}

template <typename Numbers>
auto chosen(const Machine<Numbers>& machine, const Array<typename Numbers::Number>& which,
            const Array<typename Numbers::Number>& a, const Array<typename Numbers::Number>& b) {
  const auto either = [&](bool first, const auto& x, const auto& y) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(x)>, std::int64_t>) {
      return machine.numbers.either(first, x, y);
    } else {
      if (x == y) return x;
      if (a.type == Type::pred) return (first ? x : y) | kUndecided;
      machine.numbers.doubt();
      return first ? x : y;
    }
  };
  return select(which, a, b, either);
}

template <typename Numbers>
auto convert(const Machine<Numbers>& machine, const Instruction& i,
             const Array<typename Numbers::Number>& a) {
  using Number = typename Numbers::Number;
  Numbers& numbers = machine.numbers;
  require(a.dims == i.shape.dims, "the result has the operand's extents");
  auto result = like<Number>(i.shape, a.lanes);
  const Type to = i.shape.type;
  if (is_real(a.type) && is_real(to)) {
    result.reals = a.reals;
  } else if (is_real(a.type) && to == Type::pred) {
    const Number zero = numbers.constant(0);
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](const Number& x) { return numbers.compare(x, zero, false) != Ordering::equal; }, reals(a));
  } else if (is_real(a.type)) {
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](const Number& x) { return numbers.truncate(x, to); }, reals(a));
  } else if (is_real(to)) {
    each_element(
        machine.pulse.pause, result, result.reals, [&](std::int64_t x) { return numbers.integer(x, a.type); },
        integers(a));
  } else {
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](std::int64_t x) { return a.type == to       ? x
                                     : to == Type::pred ? x != 0
                                                        : wrap(to, x); },
        integers(a));
    if (a.type != to) doubt_undecided(numbers, a);
  }
  return result;
}

// Integers of another width by their bits, the low ones first: the narrower ones are a dimension more.
template <typename Number>
Array<Number> repacked(const Instruction& i, const Array<Number>& a) {
  const Type to = i.shape.type;
  const std::int64_t narrow = std::min(row(a.type).bits, row(to).bits),
                     wide = std::max(row(a.type).bits, row(to).bits), parts = wide / narrow;
  const bool joins = row(to).bits == wide;
  Integers dims = joins ? i.shape.dims : a.dims;
  dims.push_back(parts);
  require(is_integer(a.type) && is_integer(to) && narrow >= 8 && dims == (joins ? a.dims : i.shape.dims),
          "integers whose bits are those of the operand");
  auto result = like<Number>(i.shape, a.lanes);
  for (std::size_t n = 0; n < a.integers.size(); n += static_cast<std::size_t>(joins ? parts : 1)) {
    if (joins) {
      std::uint64_t whole = 0;
      for (std::int64_t p = 0; p < parts; ++p) {
        const auto part = static_cast<std::uint64_t>(a.integers[n + static_cast<std::size_t>(p)]);
        whole |= (part & ((std::uint64_t{1} << narrow) - 1)) << (p * narrow);
      }
      result.integers.push_back(wrap(to, static_cast<std::int64_t>(whole)));
      continue;
    }
    for (std::int64_t p = 0; p < parts; ++p)
      result.integers.push_back(
          wrap(to, static_cast<std::int64_t>(static_cast<std::uint64_t>(a.integers[n]) >> (p * narrow))));
  }
  return result;
}

template <typename Numbers>
auto bitcast_convert(const Machine<Numbers>& machine, const Instruction& i,
                     const Array<typename Numbers::Number>& a) {
  using Number = typename Numbers::Number;
  if (row(a.type).bits != row(i.shape.type).bits) return repacked(i, a);
  require(a.dims == i.shape.dims, "the result has the operand's extents");
  auto result = like<Number>(i.shape, a.lanes);
  const Type from = a.type, to = i.shape.type;
  if (is_real(from) && is_real(to)) {
    require(from == to, "floats of one format");
    result.reals = a.reals;
  } else if (is_real(from)) {
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](const Number& x) { return wrap(to, machine.numbers.bits(from, x)); }, reals(a));
  } else if (is_real(to)) {
    each_element(
        machine.pulse.pause, result, result.reals,
        [&](std::int64_t x) { return machine.numbers.constant(float_of(to, x)); }, integers(a));
  } else {
    each_element(
        machine.pulse.pause, result, result.integers,
        [&](std::int64_t x) { return from == to ? x : wrap(to, x); }, integers(a));
    if (from != to) doubt_undecided(machine.numbers, a);
  }
  return result;
}

// Of no operands: constants, numbers along a dimension, the number of a device.
template <typename Numbers>
Value<typename Numbers::Number> constant(const Machine<Numbers>& machine, const Instruction& i) {
  auto array = like<typename Numbers::Number>(i.shape, 1);
  array.integers = i.literal.integers;
  for (const double x : i.literal.reals) array.reals.push_back(machine.numbers.constant(x));
  return value(std::move(array));
}

template <typename Numbers>
Value<typename Numbers::Number> iota(const Machine<Numbers>& machine, const Instruction& i) {
  auto array = like<typename Numbers::Number>(i.shape, 1);
  const auto d = get<std::int64_t>(i, Key::iota_dimension);
  require(d >= 0 && d < std::ssize(i.shape.dims), "iota_dimension= is one of the result's");
  each_index(i.shape.dims, [&](const Integers& index) {
    const std::int64_t n = index[static_cast<std::size_t>(d)];
    if (is_real(i.shape.type))
      array.reals.push_back(machine.numbers.integer(n, Type::s64));
    else
      array.integers.push_back(wrap(i.shape.type, n));
  });
  return value(std::move(array));
}

template <typename Numbers>
Value<typename Numbers::Number> partition_id(const Machine<Numbers>& machine, const Instruction& i) {
  require(machine.devices > 0, "no devices within a reduction");
  auto array = like<typename Numbers::Number>(i.shape, machine.devices);
  for (std::int64_t d = 0; d < machine.devices; ++d) array.integers.push_back(d);
  return value(std::move(array));
}

}  // namespace plumb::hlo
