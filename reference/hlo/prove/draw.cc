#include "reference/hlo/prove/draw.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "reference/hlo/run/integers.h"

namespace plumb::hlo {
namespace {

// Where the numbers of a value come from: parameters of the module, and iotas of so many.
struct Origin {
  std::set<std::int64_t> parameters;
  std::int64_t counted = 0;  // 0: no iota
  std::vector<Origin> parts;
};

void join(Origin& to, const Origin& from) {
  to.parameters.insert(from.parameters.begin(), from.parameters.end());
  to.counted = std::max(to.counted, from.counted);
  to.parts.resize(std::max(to.parts.size(), from.parts.size()));
  for (std::size_t n = 0; n < from.parts.size(); ++n) join(to.parts[n], from.parts[n]);
}

struct Following {
  const Module& module;
  std::vector<Bounds>& bounds;

  void narrow(const Origin& origin, std::int64_t extent) {
    for (const std::int64_t p : origin.parameters) {
      Bounds& b = bounds[static_cast<std::size_t>(p)];
      if (extent < 1) continue;
      b = {0, b.indexes ? std::min(b.high, extent - 1) : extent - 1, true};
    }
  }

  // What an index into the operand may not exceed.
  void index(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    if (i.operands.empty()) return;
    const Shape& of = c.instructions[static_cast<std::size_t>(i.operands[0])].shape;
    const auto mapped = [&](Key key, std::size_t indices) {
      for (const std::int64_t d : get<Integers>(i, key))
        if (d >= 0 && d < std::ssize(of.dims))
          narrow(operands[indices], of.dims[static_cast<std::size_t>(d)]);
    };
    mapped(Key::start_index_map, 1);                                 // of a gather
    mapped(Key::scatter_dims_to_operand_dims, operands.size() / 2);  // of a scatter
    const std::size_t first = i.opcode == Opcode::dynamic_slice ? 1 : 2;
    if (i.opcode == Opcode::dynamic_slice || i.opcode == Opcode::dynamic_update_slice)
      for (std::size_t d = 0; d + first < operands.size() && d < of.dims.size(); ++d)
        narrow(operands[d + first], of.dims[d]);
    if (i.opcode != Opcode::compare || get<std::string>(i, Key::direction) != "EQ") return;
    for (std::size_t side = 0; side < 2; ++side)
      if (operands[side].parameters.empty() && operands[side].counted > 0)
        narrow(operands[1 - side], operands[side].counted);
  }

  Origin call(const Instruction& i, Key key, const std::vector<Origin>& arguments) {
    Origin all;
    for (const std::int64_t c : get<Calls>(i, key).computations)
      join(all, follow(module.computations[static_cast<std::size_t>(c)], arguments));
    return all;
  }

  Origin meaning(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    index(i, c, operands);
    Origin all;
    switch (i.opcode) {
      case Opcode::iota: {
        const auto d = get<std::int64_t>(i, Key::iota_dimension);
        if (d >= 0 && d < std::ssize(i.shape.dims)) all.counted = i.shape.dims[static_cast<std::size_t>(d)];
        return all;
      }
      case Opcode::tuple:
        all.parts = operands;
        return all;
      case Opcode::get_tuple_element: {
        const auto n = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
        return n < operands[0].parts.size() ? operands[0].parts[n] : Origin{};
      }
      case Opcode::call:
        return call(i, Key::to_apply, operands);
      case Opcode::fusion:
        return call(i, Key::calls, operands);
      case Opcode::while_:
        call(i, Key::condition, operands);
        call(i, Key::body, operands);
        return operands[0];
      case Opcode::conditional:
        for (std::size_t b = 0; b + 1 < operands.size(); ++b) {
          const Integers branches = get<Calls>(i, Key::branch_computations).computations;
          if (b < branches.size())
            join(all, follow(module.computations[static_cast<std::size_t>(branches[b])], {operands[b + 1]}));
        }
        return all;
      default:
        break;
    }
    if (i.shape.type == Type::tuple || !is_integer(i.shape.type)) return all;
    for (const Origin& operand : operands) join(all, operand);
    return all;
  }

  Origin follow(const Computation& c, const std::vector<Origin>& arguments) {
    std::vector<Origin> values;
    for (const Instruction& i : c.instructions) {
      const auto number = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
      if (i.opcode == Opcode::parameter) {
        values.push_back(number < arguments.size() ? arguments[number] : Origin{});
        continue;
      }
      std::vector<Origin> operands;
      for (const std::int64_t o : i.operands) operands.push_back(values[static_cast<std::size_t>(o)]);
      values.push_back(meaning(i, c, operands));
    }
    return values[static_cast<std::size_t>(c.root)];
  }
};

// Integers that index nothing: small ones of a signed type, which may count the rounds of a loop; any of an
// unsigned.
Bounds unbounded(Type type) {
  if (row(type).kind == Kind::signed_integer) return {0, 7, false};
  const int bits = std::min(row(type).bits, 62);
  return {0, (std::int64_t{1} << bits) - 1, false};
}

}  // namespace

std::vector<Bounds> bounds_of(const Module& module) {
  const Computation& main = entry(module);
  std::vector<Bounds> bounds;
  std::vector<Origin> arguments(main.parameters.size());
  for (std::size_t p = 0; p < main.parameters.size(); ++p) {
    const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
    bounds.push_back(unbounded(shape.type));
    if (is_integer(shape.type)) arguments[p].parameters = {static_cast<std::int64_t>(p)};
  }
  Following{module, bounds}.follow(main, arguments);
  return bounds;
}

std::vector<Value<Twin>> drawn(const Module& module, const std::vector<Bounds>& bounds, std::uint64_t seed,
                               const Keeping& kept) {
  std::mt19937_64 random(seed);
  const double scale = seed % 2 == 0 ? 1 : 0.125;
  const Computation& main = entry(module);
  std::vector<Value<Twin>> arguments;
  for (std::size_t p = 0; p < main.parameters.size(); ++p) {
    const Instruction& parameter = main.instructions[static_cast<std::size_t>(main.parameters[p])];
    const Shape& shape = parameter.shape;
    if (row(shape.type).kind == Kind::none)
      refuse(module, parameter, "unsupported: a parameter that is no array");
    auto array = like<Twin>(shape, 1);
    const auto span = static_cast<std::uint64_t>(bounds[p].high - bounds[p].low) + 1;
    const auto all = static_cast<std::size_t>(elements(shape));
    is_real(shape.type) ? array.reals.reserve(all) : array.integers.reserve(all);
    for (std::size_t n = 0; n < all; ++n) {
      if (!is_real(shape.type)) {
        array.integers.push_back(
            wrap(shape.type, bounds[p].low + static_cast<std::int64_t>(random() % span)));
        continue;
      }
      const double size = (static_cast<double>(random() >> 11) * 0x1p-53 * 1.5 + 0.5) * scale;
      const Residue any = residue(static_cast<unsigned __int128>(random()));
      array.reals.push_back({random() & 1 ? size : -size, 0, any, {}});
    }
    if (std::ssize(array.integers) > 1) {  // masks and clamps show at the ends
      const std::size_t low = random() % array.integers.size();
      const std::size_t high = (low + 1 + random() % (array.integers.size() - 1)) % array.integers.size();
      array.integers[low] = wrap(shape.type, bounds[p].low);
      array.integers[high] = wrap(shape.type, bounds[p].high);
    }
    Value<Twin> argument = value(std::move(array));
    arguments.push_back(kept ? kept(p, argument) : std::move(argument));
  }
  return arguments;
}

}  // namespace plumb::hlo
