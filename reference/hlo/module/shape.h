// Element types of HLO, and shapes: an array, or a tuple of shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::hlo {

using Integers = std::vector<std::int64_t>;

// clang-format off
enum class Type : std::uint8_t {
  pred, s2, s4, s8, s16, s32, s64, u2, u4, u8, u16, u32, u64,
  f4e2m1fn, f8e3m4, f8e4m3, f8e4m3b11fnuz, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0fnu,
  bf16, f16, f32, f64, token, tuple
};
// clang-format on

enum class Kind : std::uint8_t { predicate, signed_integer, unsigned_integer, real, none };

// An element type; all its facts are one row of one table.
struct TypeRow {
  Type type;
  std::string_view name;
  Kind kind;
  int bits;
  int digits;           // of a real: the bits of its significand, the hidden one included
  int fewest, printed;  // the decimal digits that XLA prints: the fewest where they name the number, else all
};

const TypeRow& row(Type);
std::optional<Type> type_named(std::string_view);  // a tuple has no name
inline bool is_real(Type type) { return row(type).kind == Kind::real; }
inline bool is_integer(Type type) {
  return row(type).kind == Kind::signed_integer || row(type).kind == Kind::unsigned_integer;
}

// An array of `dims`, or a tuple of `parts`. `layout` lists the dimensions from minor to major; it is empty
// where none is written. `tiling` is what stands behind them, "T(8,128)S(3)".
struct Shape {
  Type type = Type::tuple;
  Integers dims;
  Integers layout;
  std::string tiling;
  std::vector<Shape> parts;
  bool operator==(const Shape&) const = default;
};

std::int64_t elements(const Shape&);

// The nearest number with the significand of a real type, ties to even; its exponents have no limits here.
double rounded(double, Type);

// The same arrays, in whatever layout.
bool same_arrays(const Shape&, const Shape&);

std::string print(const Shape&, bool with_layout = true);
std::string print_list(const Integers&);  // "{1,0}"

}  // namespace plumb::hlo
