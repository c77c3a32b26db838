// The arithmetic of integers of every type, and their conversions, against wide arithmetic written out.
#include "reference/hlo/run/integers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "reference/hlo/run/array.h"
#include "reference/hlo/run/numbers.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using Wide = __int128;

constexpr Type kTypes[] = {Type::pred, Type::s2, Type::s4, Type::s8,  Type::s16, Type::s32, Type::s64,
                           Type::u2,   Type::u4, Type::u8, Type::u16, Type::u32, Type::u64};

bool is_signed(Type type) { return row(type).kind == Kind::signed_integer; }
Wide modulus(Type type) { return static_cast<Wide>(1) << row(type).bits; }
Wide least(Type type) { return is_signed(type) ? -modulus(type) / 2 : 0; }
Wide most(Type type) { return least(type) + modulus(type) - 1; }

// The number of the type that differs by a multiple of its modulus.
Wide into(Type type, Wide x) {
  const Wide m = modulus(type), up = (x % m + m) % m;
  return up > most(type) ? up - m : up;
}

// As the interpreter holds a number.
std::int64_t held(Wide x) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(x)); }

// All numbers of a small type; of a larger those at its borders, around zero, around halves, and some
// between.
std::vector<Wide> numbers(Type type) {
  std::vector<Wide> all;
  if (row(type).bits <= 4) {
    for (Wide x = least(type); x <= most(type); ++x) all.push_back(x);
    return all;
  }
  for (const Wide x : {least(type), most(type), Wide{0}, most(type) / 2, modulus(type) / 4})
    for (Wide near = x - 3; near <= x + 3; ++near) all.push_back(into(type, near));
  for (const Wide x : {Wide{7}, Wide{8}, Wide{15}, Wide{16}, Wide{31}, Wide{32}, Wide{63}, Wide{64}, Wide{90},
                       static_cast<Wide>(0x5bad5bad5bad5bad)})
    all.push_back(into(type, x)), all.push_back(into(type, -x));
  return all;
}

Wide to_the(Type type, Wide base, Wide exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Wide result = into(type, 1);
  for (int bit = 63; bit >= 0; --bit) {
    result = into(type, held(into(type, result)) * Wide{1} * held(result));
    if (exponent >> bit & 1) result = into(type, Wide{held(result)} * held(base));
  }
  return result;
}

// The unsigned number of the same bits: what shifts, counts and logic see.
Wide bits(Type type, Wide x) { return x < 0 ? x + modulus(type) : x; }

Wide shifted(Opcode opcode, Type type, Wide a, Wide by) {
  const Wide amount = bits(type, by);
  const bool over = amount >= row(type).bits;
  if (opcode == Opcode::shift_left) return over ? 0 : into(type, bits(type, a) << static_cast<int>(amount));
  if (opcode == Opcode::shift_right_logical)
    return over ? 0 : into(type, bits(type, a) >> static_cast<int>(amount));
  const Wide m = modulus(type), with_sign = bits(type, a) >= m / 2 ? bits(type, a) - m : bits(type, a);
  return into(type, with_sign >> (over ? 64 : static_cast<int>(amount)));
}

Wide wide(Opcode opcode, Type type, Wide a, Wide b) {
  switch (opcode) {
    case Opcode::add:
      return type == Type::pred ? (a + b > 0) : into(type, a + b);
    case Opcode::subtract:
      return into(type, a - b);
    case Opcode::multiply:
      return into(type,
                  static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)));
    case Opcode::divide:
      return into(type, b == 0 ? -1 : a / b);
    case Opcode::remainder:
      return into(type, b == 0 ? a : a % b);
    case Opcode::power:
      return into(type, to_the(type, a, b));
    case Opcode::maximum:
      return std::max(a, b);
    case Opcode::minimum:
      return std::min(a, b);
    case Opcode::and_:
      return into(type, bits(type, a) & bits(type, b));
    case Opcode::or_:
      return into(type, bits(type, a) | bits(type, b));
    case Opcode::xor_:
      return into(type, bits(type, a) ^ bits(type, b));
    default:
      return shifted(opcode, type, a, b);
  }
}

TEST(Integers, OperationsOfTwo) {
  const Opcode opcodes[] = {Opcode::add,
                            Opcode::subtract,
                            Opcode::multiply,
                            Opcode::divide,
                            Opcode::remainder,
                            Opcode::power,
                            Opcode::maximum,
                            Opcode::minimum,
                            Opcode::and_,
                            Opcode::or_,
                            Opcode::xor_,
                            Opcode::shift_left,
                            Opcode::shift_right_arithmetic,
                            Opcode::shift_right_logical};
  for (const Type type : kTypes)
    for (const Wide a : numbers(type))
      for (const Wide b : numbers(type)) {
        for (const Opcode opcode : opcodes)
          ASSERT_EQ(integer_binary(opcode, type, held(a), held(b)), held(wide(opcode, type, a, b)))
              << row(type).name << " " << row(opcode).name << "(" << held(a) << ", " << held(b) << ")";
        ASSERT_EQ(integer_compare(type, held(a), held(b)), a < b ? -1 : a > b ? 1 : 0);
      }
  EXPECT_THROW(integer_binary(Opcode::atan2, Type::s32, 1, 1), Misfit);
}

// Each number twice, so that some compare equal.
TEST(Integers, TheFirstInEitherOrder) {
  const Module none;
  Reals reals;
  for (const Type type : kTypes)
    for (const bool largest : {true, false}) {
      std::vector<Wide> all = numbers(type);
      all.insert(all.end(), all.begin(), all.end());
      Array<double> a{type, {std::ssize(all)}, 1, {}, {}};
      for (const Wide x : all) a.integers.push_back(held(x));
      Integers want(all.size());
      std::iota(want.begin(), want.end(), 0);
      std::ranges::stable_sort(want, [&](std::int64_t x, std::int64_t y) {
        const Wide p = all[static_cast<std::size_t>(x)], q = all[static_cast<std::size_t>(y)];
        return largest ? p > q : p < q;
      });
      Instruction i;
      i.shape.parts = {
          Shape{type,      {}, {}, {}, {}},
          Shape{Type::s32, {}, {}, {}, {}}
      };
      i.attributes = {
          {Key::k,       std::ssize(all)},
          {Key::largest, largest        }
      };
      EXPECT_EQ(topk(Machine<Reals>{none, reals, 1, {}}, i, a).at(1).integers, want)
          << row(type).name << largest;
    }
}

TEST(Integers, OperationsOfOne) {
  for (const Type type : kTypes)
    for (const Wide x : numbers(type)) {
      int ones = 0, zeros = 0;
      for (int bit = 0; bit < row(type).bits; ++bit) {
        ones += bits(type, x) >> bit & 1;
        zeros = bits(type, x) >> bit & 1 ? 0 : zeros + 1;
      }
      const std::pair<Opcode, Wide> table[] = {
          {Opcode::abs,    into(type,                         x < 0 ? -x : x)},
          {Opcode::negate,              into(type,                                  -x)},
          {Opcode::not_,           into(type,           -1 - x)},
          {Opcode::sign,x < 0   ? -1
                         : x > 0 ? 1
                                 : 0          },
          {Opcode::popcnt,   ones},
          {Opcode::count_leading_zeros, zeros                           },
      };
      for (const auto& [opcode, want] : table)
        ASSERT_EQ(integer_unary(opcode, type, held(x)), held(want))
            << row(type).name << " " << row(opcode).name << "(" << held(x) << ")";
    }
  EXPECT_THROW(integer_unary(Opcode::sqrt, Type::s32, 1), Misfit);
}

TEST(Integers, EachTypeIntoEachOther) {
  for (const Type from : kTypes)
    for (const Type to : kTypes)
      for (const Wide x : numbers(from))
        ASSERT_EQ(wrap(to, held(x)), held(into(to, x)))
            << row(from).name << " " << row(to).name << " " << held(x);
}

TEST(Integers, RealsOfEachTypeAndBack) {
  Reals reals;
  const double inf = HUGE_VAL;
  for (const Type type : kTypes) {
    if (type == Type::pred) continue;
    for (const Wide x : numbers(type)) {
      ASSERT_EQ(reals.integer(held(x), type), static_cast<double>(x)) << row(type).name << " " << held(x);
      const auto near = static_cast<double>(x);
      for (const double real : {near, near - 0.75, near + 0.75, near * 2 + 1.5, near / 3, -near - 1.25}) {
        const double whole = std::trunc(real);
        const Wide want = whole >= static_cast<double>(most(type))    ? most(type)
                          : whole <= static_cast<double>(least(type)) ? least(type)
                                                                      : static_cast<Wide>(whole);
        ASSERT_EQ(reals.truncate(real, type), held(want)) << row(type).name << " " << real;
      }
    }
    EXPECT_EQ(reals.truncate(inf, type), held(most(type)));
    EXPECT_EQ(reals.truncate(-inf, type), held(least(type)));
    EXPECT_EQ(reals.truncate(std::nan(""), type), 0);
  }
}

// Law: what is computed of predicates, some of them undecided, is decided where it is the same whatever these
// are.
TEST(Integers, OfPredicatesThatAreUndecided) {
  const auto may_be = [](std::int64_t p) { return is_undecided(p) ? Integers{0, 1} : Integers{p}; };
  for (const Opcode opcode : {Opcode::and_, Opcode::or_, Opcode::xor_, Opcode::add, Opcode::multiply,
                              Opcode::maximum, Opcode::minimum})
    for (std::int64_t a = 0; a < 4; ++a)
      for (std::int64_t b = 0; b < 4; ++b) {
        std::set<std::int64_t> all;
        for (const std::int64_t x : may_be(a))
          for (const std::int64_t y : may_be(b)) all.insert(integer_binary(opcode, Type::pred, x, y));
        const std::int64_t got = integer_binary(opcode, Type::pred, a, b);
        EXPECT_EQ(is_undecided(got), all.size() == 2) << row(opcode).name << a << b;
        EXPECT_EQ(got & 1, integer_binary(opcode, Type::pred, a & 1, b & 1)) << "the likelier";
      }
  for (std::int64_t a = 0; a < 4; ++a) EXPECT_EQ(integer_unary(Opcode::not_, Type::pred, a), a ^ 1);
}

}  // namespace
}  // namespace plumb::hlo
