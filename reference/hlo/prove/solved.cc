#include "reference/hlo/prove/solved.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "reference/hlo/run/integers.h"

namespace plumb::hlo {
namespace {

// What something is, or, where `modulo` is not zero, all that leave the same when they are divided by it.
struct Congruent {
  std::int64_t is = 0, modulo = 0;
  auto operator<=>(const Congruent&) const = default;
};

constexpr int kMostShifted = 30;

// What is left, from zero on.
std::int64_t left_over(__int128 x, std::int64_t modulo) {
  return static_cast<std::int64_t>((x % modulo + modulo) % modulo);
}

// Some of them: the least that is not negative, and those on either side of it.
Integers some_of(const Congruent& one) {
  if (one.modulo == 0) return {one.is};
  const std::int64_t least = left_over(one.is, one.modulo);
  return {least - one.modulo, least, least + one.modulo};
}

// Of a number that has one; by Euclid.
std::int64_t inverse_of(std::int64_t a, std::int64_t modulo) {
  std::int64_t rest = modulo, next = left_over(a, modulo), x = 0, following = 1;
  while (next != 0) {
    const std::int64_t times = rest / next;
    rest -= times * next, std::swap(rest, next);
    x -= times * following, std::swap(x, following);
  }
  return left_over(x, modulo);
}

// What x is where x times c is t; where nothing is, where it turns.
void undone_product(std::int64_t c, const Congruent& t, std::vector<Congruent>& to) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();  // it has no magnitude
  if (c == 0 || c == kLeast || t.is == kLeast) return;
  const std::int64_t size = t.modulo == 0 ? c : std::gcd(c, t.modulo), modulo = t.modulo / std::abs(size);
  const auto is = [&](std::int64_t x) {  // times `size`
    if (t.modulo == 0) return to.push_back({x});
    to.push_back({left_over(static_cast<__int128>(x) * inverse_of(c / size, modulo), modulo), modulo});
  };
  is(t.is / size);
  if (t.is % size != 0) is(t.is / size + ((t.is < 0) == (size < 0) ? 1 : -1));
}

// What x is where `x opcode c` is t, or `c opcode x` where it is `second`.
void undone(const Made& made, std::int64_t c, const Congruent& wanted, std::vector<Congruent>& to) {
  const auto calculated = [&](Opcode opcode, std::int64_t a, std::int64_t b) {
    return integer_binary(opcode, made.type, a, b);
  };
  const auto of_all = [&](std::int64_t x, std::int64_t modulo) {
    to.push_back({wrap(made.type, x), modulo});
  };
  const auto sum = [&](__int128 a, __int128 b) {
    if (wanted.modulo == 0) return of_all(static_cast<std::int64_t>(a + b), 0);
    of_all(left_over(a + b, wanted.modulo), wanted.modulo);
  };
  switch (made.opcode) {  // those that hold of all that leave the same
    case Opcode::add:
      return sum(wanted.is, -static_cast<__int128>(c));
    case Opcode::subtract:
      return made.second ? sum(c, -static_cast<__int128>(wanted.is)) : sum(wanted.is, c);
    case Opcode::multiply:
      return undone_product(c, wanted, to);
    case Opcode::clamp:
      return to.push_back(wanted);
    default:
      break;
  }
  const bool divides = !made.second && c > 0, shifts = !made.second && c >= 0 && c <= kMostShifted;
  for (const std::int64_t t : some_of(wanted)) {
    const auto is = [&](std::int64_t x) { of_all(x, 0); };
    const auto lies_between = [&](std::int64_t size) {  // what becomes t where it is divided
      is(calculated(Opcode::multiply, t, size));
      is(calculated(Opcode::add, calculated(Opcode::multiply, t, size), size - 1));
    };
    switch (made.opcode) {
      case Opcode::divide:
        if (divides) lies_between(c);
        break;
      case Opcode::remainder:
        if (divides && t < c) of_all(t, c);
        break;
      case Opcode::and_:
        if ((t & c) != t) break;
        if (c > 0 && (c & (c + 1)) == 0)
          of_all(t, c + 1);
        else
          is(t), is(t | calculated(Opcode::add, c, 1));
        break;
      case Opcode::shift_right_arithmetic:
      case Opcode::shift_right_logical:
        if (shifts) lies_between(std::int64_t{1} << c);
        break;
      case Opcode::shift_left:
        if (shifts) is(t >> c), is((t >> c) + 1);
        break;
      case Opcode::xor_:
        is(t ^ c);
        break;
      case Opcode::maximum:
      case Opcode::minimum:
      case Opcode::or_:
        is(t);
        break;
      default:
        break;
    }
  }
}

// Wide enough to be multiplied once; from here on nothing is known.
constexpr __int128 kFar = __int128{1} << 40;

struct Wide {
  __int128 low = 0, high = 0;
  bool held = false;
};

// Between which numbers x lies where `x opcode others`, or the other way round, is to be all of `to`.
Wide drawn_for(const Made& made, const Wide& to) {
  constexpr __int128 kPeriods = 4, kLarge = 1024;  // whole periods
  if (made.others.empty() || !made.fixed) return to;
  const __int128 least = made.others.front(), most = made.others.back();
  const __int128 beyond = (to.high - to.low) / 2 + 2;
  const auto divided = [&](__int128 c) {  // by c, above zero
    const __int128 low = to.low * c, high = to.high * c;
    return Wide{to.low < 0 ? low - (c - 1) : low, to.high < 0 ? high : high + (c - 1), to.held};
  };
  const auto periods_of = [&](__int128 period) {
    const __int128 periods = std::max(kPeriods, (kLarge + period - 1) / period);
    return to.high >= period - 1 ? Wide{0, periods * period - 1, true} : to;
  };
  const bool shifts = !made.second && most >= 0 && most <= kMostShifted;
  switch (made.opcode) {
    case Opcode::add:
      return {to.low - most, to.high - least, to.held};
    case Opcode::subtract:
      return made.second ? Wide{least - to.high, most - to.low, to.held}
                         : Wide{to.low + least, to.high + most, to.held};
    case Opcode::multiply:
      return most > 0 ? Wide{to.low / most, to.high / most, to.held} : to;
    case Opcode::divide:
      return !made.second && most > 0 ? divided(most) : to;
    case Opcode::shift_right_arithmetic:
    case Opcode::shift_right_logical:
      return shifts ? divided(std::int64_t{1} << static_cast<int>(most)) : to;
    case Opcode::remainder:
      return !made.second && most > 0 ? periods_of(most) : to;
    case Opcode::and_:
      return most > 0 ? periods_of(most + 1) : to;
    case Opcode::minimum:
      return to.high >= most ? Wide{to.low, most + beyond, true} : to;
    case Opcode::maximum:
      return to.low <= least ? Wide{least - beyond, to.high, to.held} : to;
    case Opcode::clamp:
      return {to.low <= least ? least - beyond : to.low, to.high >= most ? most + beyond : to.high,
              to.held || to.high >= most};
    default:
      return to;
  }
}

template <typename T>
std::vector<T> some(std::vector<T> all, std::size_t most) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() <= most) return all;
  std::vector<T> evenly;
  for (std::size_t n = 0; n < most; ++n) evenly.push_back(all[n * (all.size() - 1) / (most - 1)]);
  return evenly;
}

}  // namespace

Integers few(Integers all, std::size_t most) { return some(std::move(all), most); }

Span drawn_for(const Chain& chain, Span wanted) {
  Wide all{wanted.low, wanted.high, wanted.held};
  for (const Made* made = chain.get(); made->before; made = made->before.get()) {
    all = drawn_for(*made, all);
    all.low = std::clamp(all.low, -kFar, kFar), all.high = std::clamp(all.high, -kFar, kFar);
  }
  return {static_cast<std::int64_t>(all.low), static_cast<std::int64_t>(all.high), all.held};
}

Integers solved(const Chain& chain, const Integers& wanted) {
  std::vector<Congruent> all;
  constexpr std::size_t kMost = 256;
  for (const std::int64_t t : few(wanted)) all.push_back({t});
  for (const Made* made = chain.get(); made->before && !all.empty(); made = made->before.get()) {
    std::vector<Congruent> next;
    for (const Congruent& t : all)
      for (const std::int64_t c : made->others) undone(*made, c, t, next);
    all = some(std::move(next), kMost);
  }
  Integers numbers;
  for (const Congruent& one : all)
    for (const std::int64_t x : some_of(one)) numbers.push_back(x);
  return few(std::move(numbers), 2 * kMost);
}

}  // namespace plumb::hlo
