#include "reference/hlo/prove/bounds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reference/hlo/prove/borders.h"
#include "reference/hlo/run/integers.h"

namespace plumb::hlo {
namespace {

constexpr std::int64_t kSmall = 8, kMostIndexed = std::int64_t{1} << 40;

// The number that an operand is throughout.
std::optional<std::int64_t> number_throughout(const Computation& c, std::int64_t operand) {
  const Instruction* of = &c.instructions[static_cast<std::size_t>(operand)];
  while (of->opcode == Opcode::broadcast || of->opcode == Opcode::reshape || of->opcode == Opcode::convert)
    of = &c.instructions[static_cast<std::size_t>(of->operands[0])];
  const auto& numbers = of->literal.integers;
  return of->opcode == Opcode::constant && numbers.size() == 1 ? std::optional(numbers[0]) : std::nullopt;
}

bool is_ragged(Opcode opcode) { return opcode == Opcode::ragged_dot || opcode == Opcode::ragged_all_to_all; }

bool has_nan(const Module& module) {
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (std::ranges::any_of(i.literal.reals, [](double x) { return std::isnan(x); })) return true;
  return false;
}

std::int64_t length(const Chain& chain) {
  std::int64_t steps = 0;
  for (const Made* made = chain.get(); made->before; made = made->before.get()) ++steps;
  return steps;
}

struct Narrowing {
  const Module& module;
  std::vector<Bounds>& bounds;
  bool fills = has_nan(module);  // what lies beyond an extent may be no number
  std::map<std::int64_t, Span>
      held{};  // what is to be drawn of what is clipped, or a remainder, before it indexes

  // Between which numbers a parameter is drawn for an index to be all below an extent: as the chain says that
  // holds whatever it is, else as the shortest does, which is the index as it is.
  std::optional<Span> span_of(const Origin& origin, std::int64_t p, std::int64_t extent) const {
    std::optional<Span> all;
    std::int64_t steps = 0;
    for (const Chain& chain : origin.chains) {
      if (chain->parameter != p) continue;
      const Span one = drawn_for(chain, {0, extent - 1});
      if (one.high > kMostIndexed || one.high < 0 || (all && all->held && !one.held)) continue;
      if (all && all->held)
        all->low = std::min(all->low, one.low), all->high = std::max(all->high, one.high);
      else if (!all || one.held || length(chain) < steps)
        all = one, steps = length(chain);
    }
    return all;
  }

  // Numbers from which each device takes its own away reach as far as the last device's; terms of sums, on
  // the average, to an even share: group sizes add up to the rows.
  void narrow(const Origin& origin, std::int64_t extent) {
    if (extent < 1) return;
    if (origin.summed > 1)
      extent = std::min(extent, std::max<std::int64_t>(2, 2 * extent / origin.summed + 1));
    for (const std::int64_t p : origin.parameters) {
      const std::optional<Span> span = span_of(origin, p, extent);
      if (!span && origin.indices.contains(p)) continue;
      const std::int64_t last = std::max(extent - 1, span ? span->high : 0);
      if (!span || !span->held) {
        limit(p, last);
        continue;
      }
      Span& all = held.try_emplace(p, Span{0, 0, true}).first->second;
      all.low = std::min(all.low, span->low), all.high = std::max(all.high, last);
    }
  }

  void limit(std::int64_t p, std::int64_t last) {
    Bounds& b = bounds[static_cast<std::size_t>(p)];
    b.low = 0, b.high = b.indexes ? std::min(b.high, last) : last, b.indexes = true, b.any = false;
  }

  // What is clipped as well as what indexes is drawn beyond what it indexes, up to as many again.
  void extend() {
    for (const auto& [p, span] : held) {
      Bounds& b = bounds[static_cast<std::size_t>(p)];
      if (!b.indexes)
        b.low = span.low, b.high = span.high, b.indexes = true, b.any = false;
      else if (!fills && span.high <= 2 * b.high + 1)
        b.high = std::max(b.high, span.high);
    }
    for (std::size_t p = 0; p < bounds.size(); ++p) keep_to_type(p);
  }

  void keep_to_type(std::size_t p) {
    const Computation& main = entry(module);
    const Type type = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape.type;
    Bounds& b = bounds[p];
    if (!b.indexes) return;
    if (!has_number(type, b.low)) b.low = 0;
    while (!has_number(type, b.high)) b.high /= 2;
  }

  // A single one that says how often a loop runs.
  void keep_small(const std::vector<Origin>& operands) {
    const Computation& main = entry(module);
    for (const Origin& origin : operands)
      for (const std::int64_t p : origin.parameters) {
        Bounds& b = bounds[static_cast<std::size_t>(p)];
        const std::int64_t at = main.parameters[static_cast<std::size_t>(p)];
        if (b.indexes || elements(main.instructions[static_cast<std::size_t>(at)].shape) > 1) continue;
        b.any = false, b.high = std::min(b.high, kSmall - 1);
      }
  }

  // What the two sides of a comparison ask of each other.
  void ask(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    constexpr std::size_t kMost = 4;
    const auto direction = get<std::string>(i, Key::direction);
    if (i.opcode != Opcode::compare || (direction != "EQ" && direction != "NE")) return;
    for (const std::size_t side : {0, 1}) {
      const auto x = number_throughout(c, i.operands[1 - side]);
      if (!x || operands[side].changed) continue;
      for (const std::int64_t p : operands[side].parameters) {
        const Computation& main = entry(module);
        const auto at = static_cast<std::size_t>(main.parameters[static_cast<std::size_t>(p)]);
        std::vector<std::int64_t>& asked = bounds[static_cast<std::size_t>(p)].asked;
        if (asked.size() < kMost && std::ranges::count(asked, *x) == 0 &&
            has_number(main.instructions[at].shape.type, *x))
          asked.push_back(*x);
      }
    }
  }

  // What an index into the operand may not exceed.
  void index(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    if (i.operands.empty()) return;
    const Shape& of = c.instructions[static_cast<std::size_t>(i.operands[0])].shape;
    const auto mapped = [&](Key key, std::size_t indices) {
      const Integers map = get<Integers>(i, key);
      if (map.empty() || indices >= operands.size()) return;
      const Origin& all = operands[indices];
      const bool told =
          all.columns.size() == map.size() && all.along == get<std::int64_t>(i, Key::index_vector_dim);
      for (std::size_t k = 0; k < map.size(); ++k)
        if (map[k] >= 0 && map[k] < std::ssize(of.dims))
          narrow(told ? all.columns[k] : all, of.dims[static_cast<std::size_t>(map[k])]);
    };
    mapped(Key::start_index_map, 1);                                 // of a gather
    mapped(Key::scatter_dims_to_operand_dims, operands.size() / 2);  // of a scatter
    const std::size_t first = i.opcode == Opcode::dynamic_slice ? 1 : 2;
    if (i.opcode == Opcode::dynamic_slice || i.opcode == Opcode::dynamic_update_slice)
      for (std::size_t d = 0; d + first < operands.size() && d < of.dims.size(); ++d)
        narrow(operands[d + first], of.dims[d]);
    for (std::size_t sizes = 2; is_ragged(i.opcode) && sizes < operands.size(); ++sizes)
      narrow(operands[sizes], kSmall);  // so many rows, and where they begin
    if (i.opcode != Opcode::compare) return;
    const bool equal = get<std::string>(i, Key::direction) == "EQ";
    for (std::size_t side = 0; side < 2; ++side)
      if (operands[side].parameters.empty() && operands[side].counted > 0 &&
          (equal || operands[1 - side].summed > 0))
        narrow(operands[1 - side], operands[side].counted);
  }
};

// Integers that index nothing: small ones of a signed type, any of an unsigned.
Bounds unbounded(const Shape& shape) {
  constexpr bool any = true;
  if (row(shape.type).kind == Kind::signed_integer)
    return {shape.dims.empty() ? 0 : -kSmall, kSmall - 1, false, any};
  const int bits = std::min(row(shape.type).bits, 62);
  return {0, (std::int64_t{1} << bits) - 1, false, any};
}

}  // namespace

bool has_number(Type type, std::int64_t n) { return wrap(type, n) == n; }

std::vector<Bounds> bounds_of(const Module& module, const Pause& pause) {
  const Computation& main = entry(module);
  std::vector<Bounds> bounds;
  for (const std::int64_t p : main.parameters)
    bounds.push_back(unbounded(main.instructions[static_cast<std::size_t>(p)].shape));
  Narrowing narrowing{module, bounds};
  Borders borders(bounds.size());
  each_origin(module, pause, [&](const Followed& met) {
    narrowing.index(met.is, met.within, met.operands), narrowing.ask(met.is, met.within, met.operands);
    if (met.counts) narrowing.keep_small(met.operands);
    add_borders(borders, met);
  });
  narrowing.extend();
  for (std::size_t p = 0; p < bounds.size(); ++p)
    bounds[p].borders =
        within(bounds[p], main.instructions[static_cast<std::size_t>(main.parameters[p])].shape, borders[p]);
  return bounds;
}

}  // namespace plumb::hlo
