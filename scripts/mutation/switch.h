// Every mutation of a source is a switch in its copy: on(n) where the n-th is chosen. $PLUMB_MUTANT chooses one;
// $PLUMB_MUTANTS_REACHED names a file of one byte a mutation, in which a run that chooses none notes those that would
// have made a difference where it passed (1), and those that their types rule out (2).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace plumb_mutant {

extern int chosen;  // 0: none; -1: none, and those that are passed are noted
void note(int n, char what);

inline bool reached(int n, bool differs = true) {
  if (differs) note(n, 1);
  return false;
}
constexpr bool on(int n, bool differs = true) {
  if (std::is_constant_evaluated()) return false;
  return chosen == n || (chosen < 0 && reached(n, differs));
}

template <int N>
struct RuledOut {
  static bool noted;
};
template <int N>
bool RuledOut<N>::noted = (note(N, 2), true);
template <int N>
constexpr void ruled_out() {
  if (!std::is_constant_evaluated()) static_cast<void>(&RuledOut<N>::noted);
}

// T{x} of an x that is no constant: of a vector its one element, not its length.
template <typename T, typename X>
constexpr T braced(X x) {
  if constexpr (requires { typename T::value_type; })
    return T{static_cast<typename T::value_type>(x)};
  else
    return T(x);
}

template <typename X>
concept Number = std::is_arithmetic_v<X> && !std::same_as<X, bool>;
template <typename X, typename Y>
concept Alike = (std::same_as<X, Y> && std::copy_constructible<X> && !std::is_array_v<X>) || (Number<X> && Number<Y>);
template <typename T>
using Bare = std::remove_cvref_t<T>;

constexpr bool unequal(const auto& x, const auto& y) {
  if constexpr (requires { static_cast<bool>(x == y); })
    return !static_cast<bool>(x == y);
  else
    return true;
}

// N: the bound itself falls on the other side; N + 1: the other side; N + 2: one short of the bound.
#define PLUMB_RELATION(name, op, other, short)                             \
  template <int N>                                                         \
  constexpr bool name(const auto& x, const auto& y) {                      \
    if (on(N, static_cast<bool>(x op y) != static_cast<bool>(x other y))) return x other y; \
    if (on(N + 1)) return !(x op y);                                       \
    return x op y;                                                         \
  }                                                                        \
  template <int N>                                                         \
  constexpr bool name##_in_loop(const auto& x, const auto& y) {            \
    if constexpr (std::integral<Bare<decltype(x)>>) {                      \
      if (on(N + 2, static_cast<bool>(x op y) != static_cast<bool>(x short 1 op y))) return x short 1 op y; \
    } else {                                                               \
      ruled_out<N + 2>();                                                  \
    }                                                                      \
    return name<N>(x, y);                                                  \
  }
PLUMB_RELATION(less, <, <=, +)
PLUMB_RELATION(at_most, <=, <, +)
PLUMB_RELATION(more, >, >=, -)
PLUMB_RELATION(at_least, >=, >, -)
#undef PLUMB_RELATION

#define PLUMB_ARITHMETIC(name, op, other)                        \
  template <int N>                                               \
  constexpr auto name(auto&& x, auto&& y) {                      \
    if constexpr (requires { { x other y } -> std::same_as<decltype(x op y)>; }) { \
      if (on(N)) return x other y;                               \
    } else {                                                     \
      ruled_out<N>();                                            \
    }                                                            \
    return static_cast<decltype(x)>(x) op static_cast<decltype(y)>(y); \
  }                                                              \
  template <int N>                                               \
  constexpr decltype(auto) name##_assign(auto&& x, auto&& y) {   \
    if constexpr (requires { x other## = y; }) {                 \
      if (on(N)) return x other## = y;                           \
    } else {                                                     \
      ruled_out<N>();                                            \
    }                                                            \
    return x op## = static_cast<decltype(y)>(y);                 \
  }
PLUMB_ARITHMETIC(plus, +, -)
PLUMB_ARITHMETIC(minus, -, +)
PLUMB_ARITHMETIC(times, *, +)
PLUMB_ARITHMETIC(over, /, *)
PLUMB_ARITHMETIC(modulo, %, /)
PLUMB_ARITHMETIC(bit_and, &, |)
PLUMB_ARITHMETIC(bit_or, |, &)
PLUMB_ARITHMETIC(bit_xor, ^, |)
PLUMB_ARITHMETIC(left, <<, >>)
PLUMB_ARITHMETIC(right, >>, <<)
#undef PLUMB_ARITHMETIC

// A call with two neighbouring arguments exchanged, where their types allow it.
template <int N>
constexpr decltype(auto) exchanged(auto&& call, auto&& x, auto&& y) {
  using X = decltype(x);
  using Y = decltype(y);
  if constexpr (Alike<Bare<X>, Bare<Y>>) {
    if (on(N, unequal(x, y))) {  // leaked, since the call may return one of them
      auto* const as_x = new Bare<X>(static_cast<Bare<X>>(y));
      auto* const as_y = new Bare<Y>(static_cast<Bare<Y>>(x));
      return call(static_cast<X>(*as_x), static_cast<Y>(*as_y));
    }
  } else {
    ruled_out<N>();
  }
  return call(static_cast<X>(x), static_cast<Y>(y));
}

// A call of one argument replaced by the argument, where it returns the like.
template <int N>
constexpr decltype(auto) unless_dropped(auto&& call, auto&& x) {
  using X = decltype(x);
  using Result = decltype(call(static_cast<X>(x)));
  if constexpr (!std::is_reference_v<Result> && Alike<Bare<Result>, Bare<X>>) {
    if (on(N)) return static_cast<Result>(x);
  } else {
    ruled_out<N>();
  }
  return call(static_cast<X>(x));
}

// A range without its first (N) or its last element (N + 1).
template <int N, typename R>
struct Loop {
  R range;
  constexpr auto begin() {
    auto first = std::ranges::begin(range);
    if (first != std::ranges::end(range) && on(N)) ++first;
    return first;
  }
  constexpr auto end() {
    auto last = std::ranges::end(range);
    if constexpr (std::ranges::bidirectional_range<std::remove_reference_t<R>> &&
                  std::ranges::common_range<std::remove_reference_t<R>>) {
      if (last != std::ranges::begin(range) && on(N + 1)) --last;
    } else {
      ruled_out<N + 1>();
    }
    return last;
  }
};
template <int N, typename R>
constexpr Loop<N, R> loop(R&& range) {
  return {static_cast<R&&>(range)};
}

template <int N, typename... T>
constexpr auto least(const auto& x, const auto& y) {
  if (on(N, unequal(x, y))) return std::max<T...>(x, y);
  return std::min<T...>(x, y);
}
template <int N, typename... T>
constexpr auto most(const auto& x, const auto& y) {
  if (on(N, unequal(x, y))) return std::min<T...>(x, y);
  return std::max<T...>(x, y);
}

#define PLUMB_NAMED(name, is, other)                      \
  template <int N>                                        \
  constexpr decltype(auto) name(auto&&... x) {            \
    if (on(N)) return other(static_cast<decltype(x)>(x)...); \
    return is(static_cast<decltype(x)>(x)...);            \
  }
PLUMB_NAMED(any_of, std::ranges::any_of, std::ranges::all_of)
PLUMB_NAMED(all_of, std::ranges::all_of, std::ranges::any_of)
PLUMB_NAMED(none_of, std::ranges::none_of, std::ranges::any_of)
PLUMB_NAMED(min_element, std::ranges::min_element, std::ranges::max_element)
PLUMB_NAMED(max_element, std::ranges::max_element, std::ranges::min_element)
PLUMB_NAMED(lower_bound, std::ranges::lower_bound, std::ranges::upper_bound)
PLUMB_NAMED(upper_bound, std::ranges::upper_bound, std::ranges::lower_bound)
PLUMB_NAMED(smallest, std::ranges::min, std::ranges::max)
PLUMB_NAMED(largest, std::ranges::max, std::ranges::min)
PLUMB_NAMED(floor, std::floor, std::ceil)
PLUMB_NAMED(ceil, std::ceil, std::floor)
#undef PLUMB_NAMED

}  // namespace plumb_mutant
