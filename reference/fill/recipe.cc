#include "reference/fill/recipe.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/fill/by_index.h"
#include "reference/fill/by_product.h"
#include "reference/fill/hash.h"
#include "reference/fill/tiny.h"

namespace plumb {
namespace {

Provenance provenance(std::uint64_t seed, const Source& source) {
  Provenance p{patterns(source.dtype), {}, false};
  const std::int64_t all = source.elements * source.parts;
  p.distinct = static_cast<std::uint64_t>(all) <= p.patterns.count;
  p.order = permutation(p.patterns.count, key(seed, 0, 0));
  return p;
}

// Whether every product of two whole values is 0, or half the range, modulo the words of a dtype: all parts
// of either have magnitude 1 and one sign.
bool wrap_alike(const Wrapping& w, DType dtype) {
  const int width = 8 * format(dtype).bytes;
  int zeros = 1;
  for (const Wrapping::Operand& operand : w.operand) {
    if (operand.whole_range || largest(operand.shares) > 1) return false;
    zeros += std::countr_zero(static_cast<std::uint64_t>(operand.shares.active));
  }
  return zeros >= width;
}

Wrapping wrapping(const Case& c, const std::vector<Source>& sources) {
  Wrapping w;
  w.operand[0].shift = unit(c).exponent;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    w.operand[i].odd = i == 1;
    w.operand[i].whole_range = is_reshard(c) || sources[i].parts == 1;
    if (!w.operand[i].whole_range) w.operand[i].shares = shares(sources[i].parts, capacity(sources[i].dtype));
  }
  // Of an odd number of parts whole values are odd, and so are their products.
  if (wrap_alike(w, result(c).dtype))
    for (Wrapping::Operand& operand : w.operand) operand.shares.active -= operand.shares.active % 2 == 0;
  return w;
}

// Where a mean is of more copies than the formats count to, no data are exact: they are such as the bound
// judges. Of one magnitude all sums would round alike.
std::variant<Normal, Addends> addends(const Case& c, const Source& source) {
  Addends a{{}, unit(c)};
  if (!a.unit.exists) a.unit = {1, 0, false};
  const std::int64_t most = capacity({c.acc, c.wire, source.dtype}) / copies(c) / a.unit.factor;
  if (most == 0 && !format(source.dtype).integer) return Normal{};
  if (most == 0) a.unit = {1, 0, false};
  a.shares = shares(source.parts, std::max<std::int64_t>(1, most));
  return a;
}

// The case but for the parts of extremes that it leaves: these need not be even.
Case without_extremes(Case c) {
  for (Spec& spec : c.op.chain)
    if (spec.reduction != Reduce::sum) spec = finished(spec);
  return c;
}

// By how many powers of two the one magnitude there is may grow.
int octaves_left(const Case& c, const Source& source, const Unit& unit) {
  double room = HUGE_VAL;
  for (DType dtype : {c.acc, c.wire, source.dtype}) room = std::min(room, format(dtype).largest);
  const double one = std::ldexp(static_cast<double>(unit.factor * copies(c)), unit.exponent);
  return std::clamp(std::ilogb(room / one), 0, 3);
}

// Integers beyond what their unit leaves wrap, where not `narrow`.
std::variant<Normal, Contest> contest(const Case& c, const Source& source, bool narrow) {
  Contest all{source.parts, 1, c.op.operands[0].reduction == Reduce::max, {}};
  const std::int64_t most = capacity({c.acc, c.wire, source.dtype}) / copies(c);
  if (most == 0 && !format(source.dtype).integer) return Normal{};
  const auto set_unit = [&](Unit unit) {
    if (format(source.dtype).integer && most >> unit.exponent == 1)
      unit = {unit.factor << unit.exponent, 0, true};
    all.unit = unit.exists ? unit : Unit{1, 0, false};
    const std::int64_t units = narrow && format(source.dtype).integer ? most >> all.unit.exponent : most;
    all.most = std::max<std::int64_t>(1, units / all.unit.factor);
  };
  set_unit(unit(c));
  if (all.most == 1) set_unit(unit(without_extremes(c)));
  if (all.most > 1) return all;
  if (format(source.dtype).integer)
    all.beyond = std::max<std::int64_t>(0, capacity({c.acc, c.wire, source.dtype}) - all.unit.factor);
  else
    all.octaves = octaves_left(c, source, all.unit);
  return all;
}

// Where no data of a product are exact they are such as the bound judges.
std::variant<Normal, Product> products(const Case& c) {
  Product p = product_data(c);
  if (!p.budget.exists && !format(c.op.operands[0].dtype).integer) return Normal{};
  return p;
}

Recipe drawn_once(const Case& c, bool narrow) {
  Recipe r;
  r.seed = data_seed(c);
  for (const Spec& spec : c.op.operands)
    r.sources.push_back({spec.dtype, shape(spec), elements(spec), parts(c.mesh, spec)});
  const bool movable_only = c.op.operands[0].dtype == DType::e8m0;
  if (c.fill == Fill::scaled && is_quantize(c))
    r.data = tiled(c);
  else if (c.fill == Fill::scaled)
    r.data = coded(c);
  else if (c.fill == Fill::provenance || movable_only)
    r.data = provenance(r.seed, r.sources[0]);
  else if (c.op.operands[0].reduction != Reduce::sum)
    std::visit([&](auto&& data) { r.data = std::move(data); }, contest(c, r.sources[0], narrow));
  else if (c.fill == Fill::normal && !format(r.sources[0].dtype).integer)
    r.data = Normal{};
  else if (wraps(c))
    r.data = wrapping(c, r.sources);
  else if (is_reshard(c))
    std::visit([&](auto&& data) { r.data = std::move(data); }, addends(c, r.sources[0]));
  else
    std::visit([&](auto&& data) { r.data = std::move(data); }, products(c));
  return r;
}

constexpr int kTurns = 32;  // of two alike elements of one bit each one in 2^32 remains

}  // namespace

// Where integers that wrap are alike from every key, as the largest of 256 in eight values, they do not wrap.
Recipe recipe(const Case& c) {
  Recipe r = drawn_once(c, false);
  Case again = c;
  for (int turn = 1; turn <= 2 * kTurns && tells_nothing(c, r); ++turn) {
    again.seed = mix(data_seed(c) + kGolden * static_cast<std::uint64_t>(turn));
    r = drawn_once(again, turn > kTurns);
  }
  return r;
}

void write(const Recipe& r, const Portion& portion, std::byte* out) {
  const Source& source = r.sources[portion.operand];
  const int bytes = format(source.dtype).bytes;
  std::visit(
      [&](const auto& data) {
        if constexpr (std::is_same_v<decltype(data), const Product&>) {
          write_product(r, data, portion, out);
        } else {
          each_run(source.shape, portion.slice, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            write_run(r, data, {portion.operand, portion.part, from, count}, out + to * bytes);
          });
        }
      },
      r.data);
}

}  // namespace plumb
