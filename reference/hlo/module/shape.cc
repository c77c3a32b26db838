#include "reference/hlo/module/shape.h"

#include <algorithm>
#include <cmath>

namespace plumb::hlo {
namespace {

// clang-format off
constexpr TypeRow kTypes[] = {
    {Type::pred, "pred", Kind::predicate, 1, 0, 0, 0},
    {Type::s2, "s2", Kind::signed_integer, 2, 0, 0, 0},
    {Type::s4, "s4", Kind::signed_integer, 4, 0, 0, 0},
    {Type::s8, "s8", Kind::signed_integer, 8, 0, 0, 0},
    {Type::s16, "s16", Kind::signed_integer, 16, 0, 0, 0},
    {Type::s32, "s32", Kind::signed_integer, 32, 0, 0, 0},
    {Type::s64, "s64", Kind::signed_integer, 64, 0, 0, 0},
    {Type::u2, "u2", Kind::unsigned_integer, 2, 0, 0, 0},
    {Type::u4, "u4", Kind::unsigned_integer, 4, 0, 0, 0},
    {Type::u8, "u8", Kind::unsigned_integer, 8, 0, 0, 0},
    {Type::u16, "u16", Kind::unsigned_integer, 16, 0, 0, 0},
    {Type::u32, "u32", Kind::unsigned_integer, 32, 0, 0, 0},
    {Type::u64, "u64", Kind::unsigned_integer, 64, 0, 0, 0},
    {Type::f4e2m1fn, "f4e2m1fn", Kind::real, 4, 2, 0, 3},
    {Type::f8e3m4, "f8e3m4", Kind::real, 8, 5, 1, 3},
    {Type::f8e4m3, "f8e4m3", Kind::real, 8, 4, 0, 3},
    {Type::f8e4m3b11fnuz, "f8e4m3b11fnuz", Kind::real, 8, 4, 0, 3},
    {Type::f8e4m3fn, "f8e4m3fn", Kind::real, 8, 4, 0, 3},
    {Type::f8e4m3fnuz, "f8e4m3fnuz", Kind::real, 8, 4, 0, 3},
    {Type::f8e5m2, "f8e5m2", Kind::real, 8, 3, 0, 3},
    {Type::f8e5m2fnuz, "f8e5m2fnuz", Kind::real, 8, 3, 0, 3},
    {Type::f8e8m0fnu, "f8e8m0fnu", Kind::real, 8, 1, 0, 3},
    {Type::bf16, "bf16", Kind::real, 16, 8, 2, 4},
    {Type::f16, "f16", Kind::real, 16, 11, 3, 5},
    {Type::f32, "f32", Kind::real, 32, 24, 6, 9},
    {Type::f64, "f64", Kind::real, 64, 53, 15, 17},
    {Type::token, "token", Kind::none, 0, 0, 0, 0},
    {Type::tuple, "", Kind::none, 0, 0, 0, 0},
};
// clang-format on

static_assert([] {
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  return true;
}());

}  // namespace

const TypeRow& row(Type type) { return kTypes[static_cast<int>(type)]; }

std::optional<Type> type_named(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::int64_t elements(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape.dims) n *= size;
  return n;
}

double rounded(double x, Type type) {
  const int digits = row(type).digits;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

bool same_arrays(const Shape& a, const Shape& b) {
  return a.type == b.type && a.dims == b.dims && std::ranges::equal(a.parts, b.parts, same_arrays);
}

std::string print_list(const Integers& list) {
  std::string text = "{";
  for (const std::int64_t n : list) text += (text.size() > 1 ? "," : "") + std::to_string(n);
  return text + "}";
}

std::string print(const Shape& shape, bool with_layout) {
  std::string text;
  if (shape.type == Type::tuple) {
    for (std::size_t i = 0; i < shape.parts.size(); ++i) {
      text += i == 0 ? "" : ", ";
      if (i > 0 && i % 5 == 0) text += "/*index=" + std::to_string(i) + "*/";
      text += print(shape.parts[i], with_layout);
    }
    return "(" + text + ")";
  }
  const std::string dims = print_list(shape.dims);
  text = std::string(row(shape.type).name) + "[" + dims.substr(1, dims.size() - 2) + "]";
  if (!with_layout || (shape.layout.empty() && shape.tiling.empty())) return text;
  text += print_list(shape.layout);
  if (!shape.tiling.empty()) text.insert(text.size() - 1, ":" + shape.tiling);
  return text;
}

}  // namespace plumb::hlo
