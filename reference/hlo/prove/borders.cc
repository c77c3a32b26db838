#include "reference/hlo/prove/borders.h"

#include <algorithm>
#include <optional>

#include "reference/hlo/run/integers.h"

namespace plumb::hlo {
namespace {

// Codes of sides; those of the upper end of what is clamped are so much further, those of the next column.
constexpr std::int64_t kBelow = 2, kAbove = 3, kOn = 4, kUpper = 3, kColumn = 8;

const Shape& operand_shape(const Followed& one, std::size_t n) {
  return one.within.instructions[static_cast<std::size_t>(one.is.operands[n])].shape;
}

bool divides(Opcode opcode) { return opcode == Opcode::divide || opcode == Opcode::remainder; }

// Of a division as if it compared: it turns where the one is as large as the other.
std::string direction_of(const Instruction& i) {
  return divides(i.opcode) ? "LT" : get<std::string>(i, Key::direction);
}

bool is_of_a_sum(const Origin& origin) { return origin.summed > 1; }

bool is_equality(const std::string& direction) { return direction == "EQ" || direction == "NE"; }

// Whether `a direction b` turns between b - 1 and b; else between b and b + 1.
bool turns_below(const std::string& direction) { return direction == "LT" || direction == "GE"; }

// Those of the numbers beside x, and x, that the type has.
void add_beside(Integers& to, Type type, std::int64_t x, std::initializer_list<std::int64_t> steps) {
  for (const std::int64_t step : steps) {
    const std::int64_t y = wrap(
        type, static_cast<std::int64_t>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(step)));
    if (integer_compare(type, y, x) == (step > 0) - (step < 0)) to.push_back(y);
  }
}

void add_solved(Borders& borders, const Origin& origin, const Integers& wanted) {
  for (const Chain& chain : origin.chains) {
    const Integers all = solved(chain, wanted);
    Integers& to = borders[static_cast<std::size_t>(chain->parameter)];
    to.insert(to.end(), all.begin(), all.end());
  }
}

// Of very many numbers that something is compared with each is met anyhow.
constexpr std::size_t kFew = 4;

// Of operand `of` less operand `with`, or less zero, when it is beside where it turns: of equality where it
// holds, of a minimum and its like on it as well.
struct Beside {
  std::int64_t code = 0;
  std::size_t of = 0;
  std::optional<std::size_t> with{};
  std::int64_t distance = 0;
};

bool asks(Opcode opcode) { return opcode == Opcode::compare || divides(opcode); }

// None: an instruction turns nowhere.
std::vector<Beside> sides_of(const Instruction& i) {
  const auto beside = [](std::size_t of, std::optional<std::size_t> with) {
    return std::vector<Beside>{
        {kBelow, of, with, -1},
        {kAbove, of, with, 1 },
        {kOn,    of, with, 0 }
    };
  };
  if (asks(i.opcode)) {
    const auto direction = direction_of(i);
    if (is_equality(direction))
      return {
          {kBelow, 0, 1, 0}
      };
    const std::int64_t above = turns_below(direction) ? 0 : 1;
    return {
        {kBelow, 0, 1, above - 1},
        {kAbove, 0, 1, above    }
    };
  }
  if (i.opcode == Opcode::minimum || i.opcode == Opcode::maximum) return beside(0, 1);
  if (i.opcode == Opcode::sign) return beside(0, std::nullopt);
  if (i.opcode != Opcode::clamp) return {};
  std::vector<Beside> both = beside(1, 0);
  for (Beside side : beside(1, 2)) side.code += kUpper, both.push_back(side);
  return both;
}

Columns columns_of(const Followed& one) {
  for (const Origin& operand : one.operands)
    if (!operand.columns.empty()) return {operand.along, std::ssize(operand.columns)};
  return {};
}

const Origin& column(const Origin& all, const Columns& columns, std::int64_t k) {
  const bool told = all.along == columns.along && std::ssize(all.columns) == columns.count;
  return told ? all.columns[static_cast<std::size_t>(k)] : all;
}

// Of one column.
void add_sides(Borders& borders, const Followed& one, const Paths* met, std::int64_t k) {
  const Columns columns = columns_of(one);
  const bool equality = one.is.opcode == Opcode::compare && is_equality(direction_of(one.is));
  std::map<std::size_t, Integers> wanted;  // of each operand
  const auto add = [&](std::size_t of, std::optional<std::size_t> with, std::int64_t distance) {
    const Integers others = with ? column(one.operands[*with], columns, k).at_zero : Integers{0};
    if ((equality || !asks(one.is.opcode)) && others.size() > kFew) return;
    for (const std::int64_t x : others)
      if (equality)
        add_beside(wanted[of], operand_shape(one, of).type, x, {-1, 0, 1});
      else
        add_beside(wanted[of], operand_shape(one, of).type, x, {distance});
  };
  for (const Beside& side : sides_of(one.is)) {
    if (met && met->contains({&one.is, kColumn * k + side.code})) continue;
    add(side.of, side.with, side.distance);
    if (side.with) add(*side.with, side.of, -side.distance);
  }
  for (const auto& [of, numbers] : wanted) add_solved(borders, column(one.operands[of], columns, k), numbers);
}

// Of those within, what not every eight draws have: of what indexes these have the ends.
Integers not_drawn(const Bounds& bounds, const Shape& shape, const Integers& borders) {
  Integers all = within(bounds, shape, borders);
  if (bounds.indexes) std::erase_if(all, [&](auto x) { return x == bounds.low || x == bounds.high; });
  return all;
}

}  // namespace

void add_borders(Borders& borders, const Followed& one, const Paths* met) {
  if (one.operands.empty() || !is_integer(operand_shape(one, 0).type)) return;
  for (std::int64_t k = 0; k < columns_of(one).count; ++k) add_sides(borders, one, met, k);
}

Integers within(const Bounds& bounds, const Shape& shape, const Integers& borders) {
  if (!is_integer(shape.type)) return {};
  Integers all;
  for (const std::int64_t x : borders)
    if (has_number(shape.type, x) && (bounds.any || (x >= bounds.low && x <= bounds.high))) all.push_back(x);
  return few(std::move(all));
}

Turns turns_of(const Module& module, const std::set<const Instruction*>& free_of_parameters, const Pause& pause) {
  Turns turns{pause};
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (!sides_of(i).empty() && (i.operands.size() != 2 || i.operands[0] != i.operands[1]) &&
          !free_of_parameters.contains(&i) &&
          is_integer(c.instructions[static_cast<std::size_t>(i.operands[0])].shape.type))
        turns.all.insert({&i, {}});
  if (turns.all.empty()) return turns;
  each_origin(module, pause, [&](const Followed& one) {
    const auto turn = turns.all.find(&one.is);
    if (turn == turns.all.end()) return;
    if (turn->second.count == 1) turn->second = columns_of(one);
    if (std::ranges::any_of(one.operands, is_of_a_sum)) turns.of_sums.insert(&one.is);
  });
  return turns;
}

void Turns::note(const Instruction& i, const std::vector<Value<Twin>>& operands, Paths& paths,
                 bool zeros) const {
  const auto turn = all.find(&i);
  if (turn == all.end() || (zeros && of_sums.contains(&i))) return;
  const auto [along, columns] = turn->second;
  const Array<Twin>& shaped = *operands[i.opcode == Opcode::clamp ? 1 : 0].array;
  const std::int64_t size = count(shaped.dims);
  std::int64_t stride = 1;
  for (auto d = static_cast<std::size_t>(along) + 1; columns > 1 && d < shaped.dims.size(); ++d)
    stride *= shaped.dims[d];
  const auto meets = [&](const Beside& side, std::int64_t k) {
    const Array<Twin>&a = *operands[side.of].array, &b = *operands[side.with.value_or(side.of)].array;
    const std::int64_t step = side.with && b.dims.size() < a.dims.size() ? 0 : 1;  // the ends of a clamp
    // Each has as many lanes as the other, or one; where their holders differ, those of devices.
    const bool alike = a.lanes == 1 || b.lanes == 1 || a.holders == b.holders;
    const auto devices = [](const Array<Twin>& x) { return x.holders ? std::ssize(*x.holders) : 0; };
    const std::int64_t lanes = alike ? std::max(a.lanes, b.lanes) : std::max(devices(a), devices(b));
    const auto begin = [&](const Array<Twin>& x, std::int64_t lane, std::int64_t of) {
      return x.integers.data() + (alike ? begin_of(x, lane, of) : begin_on(x, lane, of));
    };
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t *x = begin(a, lane, size), *y = begin(b, lane, step == 0 ? 1 : size);
      for (std::int64_t n = 0; n < size; ++n)
        if (static_cast<std::uint64_t>(x[n]) - (side.with ? static_cast<std::uint64_t>(y[n * step]) : 0) ==
                static_cast<std::uint64_t>(side.distance) &&
            (columns == 1 || n / stride % columns == k))
          return true;
    }
    return false;
  };
  for (std::int64_t k = 0; k < columns; ++k)
    for (const Beside& side : sides_of(i))
      if (const auto met = std::pair(&i, kColumn * k + side.code); !paths.contains(met) && meets(side, k))
        paths.insert(met);
}

Placing::Placing(const Module& module) {
  for (const std::int64_t p : entry(module).parameters)
    shapes.push_back(entry(module).instructions[static_cast<std::size_t>(p)].shape);
  times.resize(shapes.size()), open.resize(shapes.size()), singles.resize(shapes.size());
}

bool Placing::place(std::vector<Bounds>& bounds, const Unmet& wanted) {
  constexpr int kTimes = 3;
  bool any = !wanted.summed.empty() && ++halved <= kTimes;
  for (const std::size_t p : wanted.summed)
    bounds[p].high = bounds[p].low + ((bounds[p].high - bounds[p].low) >> std::min(halved, kTimes));
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    Integers all = within(bounds[p], shapes[p], wanted.borders[p]);
    if (all.empty()) continue;
    if (elements(shapes[p]) > 1) {
      if (all.size() < open[p]) times[p] = 0;
      open[p] = all.size(), any = times[p]++ < kTimes || any;
      bounds[p].placed = std::move(all);
      continue;
    }
    if (bounds[p].low <= 0) all.insert(all.begin(), 0);
    const auto next = std::ranges::find_if(all, [&](std::int64_t x) { return !singles[p].contains(x); });
    any = any || next != all.end();
    bounds[p].placed = {next == all.end() ? all[0] : *next};
    singles[p].insert(bounds[p].placed[0]);
  }
  return any;
}

Borders borders_of(const Module& module, const std::vector<Bounds>& bounds, const Turns& turns, Which which) {
  const Computation& main = entry(module);
  Borders all(main.parameters.size());
  if (turns.all.empty()) return all;
  each_origin(module, turns.pause, [&](const Followed& one) {
    const auto turn = turns.all.find(&one.is);
    const auto elsewhere = [](const Origin& operand) { return operand.by_device; };
    if (turn == turns.all.end() || (which == Which::ends && !asks(one.is.opcode))) return;
    const bool end = turn->second.count > 1 || std::ranges::any_of(one.operands, elsewhere);
    if (end || which == Which::all) add_borders(all, one);
  });
  for (std::size_t p = 0; p < all.size(); ++p) {
    const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
    all[p] = which == Which::all ? within(bounds[p], shape, all[p]) : not_drawn(bounds[p], shape, all[p]);
  }
  return all;
}

std::set<std::pair<std::size_t, std::size_t>> masked_together(const Module& module, const Pause& pause) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  const Computation& main = entry(module);
  const auto shape = [&](std::int64_t p) -> const Shape& {
    return main.instructions[static_cast<std::size_t>(main.parameters[static_cast<std::size_t>(p)])].shape;
  };
  each_origin(module, pause, [&](const Followed& one) {
    if (one.is.shape.type != Type::pred) return;
    std::set<std::int64_t> of;
    for (const Origin& operand : one.operands)
      of.insert(operand.parameters.begin(), operand.parameters.end());
    for (const std::int64_t p : of)
      for (const std::int64_t q : of)
        if (p < q && elements(shape(p)) > 1 && shape(p).dims == shape(q).dims)
          pairs.insert({static_cast<std::size_t>(p), static_cast<std::size_t>(q)});
  });
  return pairs;
}

Unmet unmet(const Module& module, const std::vector<Bounds>& bounds, const Turns& turns, const Paths& paths) {
  std::set<const Instruction*> open, listed;
  for (const auto& [i, columns] : turns.all)
    for (std::int64_t k = 0; k < columns.count; ++k)
      for (const Beside& side : sides_of(*i))
        if (!paths.contains({i, kColumn * k + side.code})) open.insert(i);
  const Computation& main = entry(module);
  Unmet found{{}, Borders(main.parameters.size())};
  if (open.empty()) return found;
  each_origin(module, turns.pause, [&](const Followed& one) {
    if (!open.contains(&one.is)) return;
    Borders own(main.parameters.size());
    add_borders(own, one, &paths);
    bool solved = false, drawn = false;
    for (std::size_t p = 0; p < own.size(); ++p) {
      const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
      const Integers more = not_drawn(bounds[p], shape, own[p]);
      solved = solved || !own[p].empty(), drawn = drawn || !more.empty();
      found.borders[p].insert(found.borders[p].end(), more.begin(), more.end());
    }
    for (const Origin& operand : one.operands)
      if (asks(one.is.opcode) && is_of_a_sum(operand))
        found.summed.insert(operand.parameters.begin(), operand.parameters.end());
    const auto of_data = [](const Origin& o) { return o.unknown || !o.parameters.empty(); };
    // Whether what is computed otherwise is clipped at all is not known: it may lie between the ends.
    const bool told = drawn || (!solved && asks(one.is.opcode));
    if (told && std::ranges::any_of(one.operands, of_data)) listed.insert(&one.is);
  });
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (listed.contains(&i)) found.names.push_back("%" + i.name);
  return found;
}

}  // namespace plumb::hlo
