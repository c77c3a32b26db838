// Shapes, and the numbers of constants.
#include <charconv>
#include <limits>

#include "reference/hlo/module/parse.h"

namespace plumb::hlo {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

Type scan_type(Scan& scan) {
  const std::size_t begin = scan.at;
  const std::string name(scan.letters());
  if (name.empty()) scan.fail("expected a shape");
  if (const auto type = type_named(name)) return *type;
  scan.unsupported("type " + name, begin);
  return Type::f32;
}

Integers scan_dims(Scan& scan) {
  Integers dims;
  std::int64_t elements = 1;
  scan.expect("[");
  while (!scan.take("]")) {
    if (!dims.empty()) scan.expect(",");
    if (scan.next_is("<="))
      scan.unsupported("dimension whose size only the run decides", scan.at), scan.at += 2;
    const std::size_t begin = scan.at;
    const std::int64_t size = scan.number("the size of a dimension");
    if (size < 0) scan.fail("a size below zero", begin);
    if (size > 0 && elements > kMostElements / size) scan.fail("more elements than any memory holds", begin);
    elements *= std::max<std::int64_t>(size, 1);
    dims.push_back(size);
  }
  return dims;
}

// "{1,0:T(8,128)S(3)}"
void scan_layout(Scan& scan, Shape& shape) {
  const std::size_t begin = scan.at;
  scan.expect("{");
  while (!scan.next_is("}") && !scan.next_is(":")) {
    if (!shape.layout.empty()) scan.expect(",");
    shape.layout.push_back(scan.number("a dimension of the layout"));
  }
  scan.take(":");
  shape.tiling = scan.balanced("}");
  scan.expect("}");
  std::vector<bool> met(shape.dims.size());
  for (const std::int64_t d : shape.layout) {
    if (d < 0 || d >= std::ssize(met) || met[static_cast<std::size_t>(d)])
      scan.fail("not a layout of the shape", begin);
    met[static_cast<std::size_t>(d)] = true;
  }
  if (!shape.layout.empty() && shape.layout.size() != shape.dims.size())
    scan.fail("not a layout of the shape", begin);
}

constexpr int kDeepestTuple = 64;

Shape scan_shape(Scan& scan, int depth) {
  Shape shape;
  if (scan.take("(")) {
    if (depth == kDeepestTuple) scan.fail("tuples within tuples without end");
    scan.spaces();
    while (!scan.take(")")) {
      if (!shape.parts.empty()) scan.expect(",");
      scan.spaces();
      shape.parts.push_back(scan_shape(scan, depth + 1));
      scan.spaces();
    }
    return shape;
  }
  shape.type = scan_type(scan);
  shape.dims = scan_dims(scan);
  if (scan.next_is("{")) scan_layout(scan, shape);
  return shape;
}

template <typename T>
T scan_number(Scan& scan) {
  T x{};
  const char* const end = scan.text.data() + scan.text.size();
  const auto [stop, error] = std::from_chars(scan.text.data() + scan.at, end, x);
  if (error == std::errc::result_out_of_range) scan.fail("a number out of the range of its type");
  if (error != std::errc()) scan.fail("expected a number");
  scan.at = static_cast<std::size_t>(stop - scan.text.data());
  return x;
}

double scan_real(Scan& scan, Type type) {
  // What is printed names one number of a narrower type, so nothing is rounded twice.
  return type == Type::f32 ? scan_number<float>(scan) : rounded(scan_number<double>(scan), type);
}

std::int64_t scan_integer(Scan& scan, Type type) {
  if (scan.take("true")) return 1;
  if (scan.take("false")) return 0;
  const std::size_t begin = scan.at;
  const TypeRow& facts = row(type);
  if (facts.kind != Kind::signed_integer) {
    const auto x = scan_number<std::uint64_t>(scan);
    if (facts.bits < 64 && x >> facts.bits) scan.fail("a number out of the range of its type", begin);
    return static_cast<std::int64_t>(x);
  }
  const auto x = scan_number<std::int64_t>(scan);
  const std::int64_t above = x >> (facts.bits - 1);
  if (above != (x < 0 ? -1 : 0)) scan.fail("a number out of the range of its type", begin);
  return x;
}

void scan_numbers(Scan& scan, const Shape& shape, std::size_t depth, Literal& literal) {
  if (scan.next_is("{...}"))
    scan.fail("the numbers of this constant are left out; dump with --xla_dump_large_constants");
  if (depth == shape.dims.size()) {
    if (is_real(shape.type))
      literal.reals.push_back(scan_real(scan, shape.type));
    else
      literal.integers.push_back(scan_integer(scan, shape.type));
    return;
  }
  scan.expect("{");
  scan.blank();
  if (shape.dims[depth] == 0 || elements(shape) == 0) {
    while (scan.take("{") || scan.take("}") || scan.take(",")) scan.blank();
    return;
  }
  for (std::int64_t i = 0; i < shape.dims[depth]; ++i) {
    if (i > 0) scan.expect(",");
    scan.blank();
    scan_numbers(scan, shape, depth + 1, literal);
    scan.blank();
  }
  scan.expect("}");
}

}  // namespace

Shape scan_shape(Scan& scan) { return scan_shape(scan, 0); }

Literal scan_literal(Scan& scan, const Shape& shape) {
  Literal literal;
  if (row(shape.type).kind == Kind::none) {
    scan.unsupported("constant of a tuple or a token", scan.at);
    scan.balanced(")");
    return literal;
  }
  if (!scan.unknown.empty()) return scan.balanced(")"), literal;  // of a type that is not known, perhaps
  scan.blank();
  scan_numbers(scan, shape, 0, literal);
  scan.blank();
  return literal;
}

}  // namespace plumb::hlo
