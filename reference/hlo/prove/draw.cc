#include "reference/hlo/prove/draw.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/runs.h"
#include "reference/hlo/run/threads.h"

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

constexpr std::int64_t kSmall = 8;

bool is_ragged(Opcode opcode) { return opcode == Opcode::ragged_dot || opcode == Opcode::ragged_all_to_all; }

struct Following {
  const Module& module;
  std::vector<Bounds>& bounds;
  std::int64_t walked = 0;  // instructions

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
    for (std::size_t sizes = 2; is_ragged(i.opcode) && sizes < operands.size(); ++sizes)
      narrow(operands[sizes], kSmall);  // so many rows, and where they begin
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
    if (walked > kMostWalked) return {};
    walked += std::ssize(c.instructions);
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

// Integers that index nothing: small ones of a signed type, of which a single one may count the rounds of a
// loop; any of an unsigned.
Bounds unbounded(const Shape& shape) {
  if (row(shape.type).kind == Kind::signed_integer)
    return {shape.dims.empty() ? 0 : -kSmall, kSmall - 1, false};
  const int bits = std::min(row(shape.type).bits, 62);
  return {0, (std::int64_t{1} << bits) - 1, false};
}

}  // namespace

std::vector<Bounds> bounds_of(const Module& module) {
  const Computation& main = entry(module);
  std::vector<Bounds> bounds;
  std::vector<Origin> arguments(main.parameters.size());
  for (std::size_t p = 0; p < main.parameters.size(); ++p) {
    const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
    bounds.push_back(unbounded(shape));
    if (is_integer(shape.type)) arguments[p].parameters = {static_cast<std::int64_t>(p)};
  }
  Following{module, bounds}.follow(main, arguments);
  return bounds;
}

namespace {

// Number n of the stream of SplitMix64 that begins at `state`.
constexpr std::uint64_t split(std::uint64_t state, std::uint64_t n) {
  return mixed(state + (n + 1) * 0x9e3779b97f4a7c15u);
}

constexpr std::uint64_t kFewValues = 4;

// An argument, element by element: each is what the argument's key and its place alone say.
struct Argument {
  Shape shape;
  Bounds bounds;
  double scale = 1;
  std::uint64_t key = 0;
  std::int64_t low = -1, high = -1;  // where the least integer stands, and the greatest
  std::uint64_t shared = 0;          // not 0: floats are of few values, zero among them, of this key

  std::uint64_t bits(std::int64_t n) const { return split(key, static_cast<std::uint64_t>(n)); }

  Twin real(std::int64_t n) const {
    const std::uint64_t few = bits(n) % kFewValues;
    if (shared != 0 && few == 0) return {};
    const std::uint64_t first = shared != 0 ? split(shared, few) : bits(n);
    const std::uint64_t second = mixed(first + (shared != 0 ? shared : key));
    const double size = (static_cast<double>(second >> 11) * 0x1p-53 * 1.5 + 0.5) * scale;
    return {second & 1 ? size : -size, 0, residue(static_cast<unsigned __int128>(first)), {}};
  }

  std::int64_t integer(std::int64_t n) const {
    const auto from = static_cast<std::uint64_t>(bounds.low), to = static_cast<std::uint64_t>(bounds.high);
    const std::uint64_t span = to - from + 1;  // 0: any of 64 bits
    const std::uint64_t x = n == low ? from : n == high ? to : from + (span == 0 ? bits(n) : bits(n) % span);
    return wrap(shape.type, static_cast<std::int64_t>(x));
  }
};

// Of a draw, and of an argument of this key.
double scale_of(std::uint64_t seed, std::uint64_t key) {
  constexpr std::uint64_t kSizes = 11;
  if (is_plain(seed)) return 1;
  if (seed % 8 == 1) return 0x1p-3;
  return std::ldexp(0x1p-5, static_cast<int>(mixed(key + 1) % kSizes));
}

Argument argument(const Module& module, const std::vector<Bounds>& bounds, std::size_t p,
                  std::uint64_t seed) {
  const Computation& main = entry(module);
  const Instruction& parameter = main.instructions[static_cast<std::size_t>(main.parameters[p])];
  if (row(parameter.shape.type).kind == Kind::none)
    refuse(module, parameter, "unsupported: a parameter that is no array");
  const std::uint64_t key = split(split(0, seed), p);
  Argument a{parameter.shape, bounds[p], scale_of(seed, key), key};
  if (elements(a.shape) == 1) {
    if (seed % 8 == 3) a.low = 0;
    if (seed % 8 == 5) a.high = 0;
  } else if (has_ties(seed)) {
    a.shared = split(0, seed), a.scale = 1;
  }
  if (const auto all = static_cast<std::uint64_t>(elements(a.shape)); all > 1) {
    const std::uint64_t low = mixed(a.key) % all;  // masks and clamps show at the ends
    a.low = static_cast<std::int64_t>(low);
    a.high = static_cast<std::int64_t>((low + 1 + mixed(~a.key) % (all - 1)) % all);
  }
  return a;
}

}  // namespace

bool is_plain(std::uint64_t seed) { return seed % 8 == 0; }
bool has_ties(std::uint64_t seed) { return seed % 8 == 7; }

Value<Twin> drawn(const Module& module, const std::vector<Bounds>& bounds, std::size_t p, std::uint64_t seed,
                  const Division& division, const Array<Twin>& fill) {
  const Argument a = argument(module, bounds, p, seed);
  return value(is_real(a.shape.type)
                   ? cut(a.shape, division, fill, [&a](std::int64_t n) { return a.real(n); })
                   : cut(a.shape, division, fill, [&a](std::int64_t n) { return a.integer(n); }));
}

std::vector<Value<Twin>> drawn(const Module& module, const std::vector<Bounds>& bounds, std::uint64_t seed) {
  std::vector<Value<Twin>> arguments;
  for (std::size_t p = 0; p < entry(module).parameters.size(); ++p) {
    const Argument a = argument(module, bounds, p, seed);
    auto array = like<Twin>(a.shape, 1);
    visit(array, [&](const auto& kind) {
      auto& to = elements_of(array, kind);
      to.resize(static_cast<std::size_t>(elements(a.shape)));
      each_part(elements(a.shape), 8, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n)
          if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, std::vector<std::int64_t>>)
            to[static_cast<std::size_t>(n)] = a.integer(n);
          else
            to[static_cast<std::size_t>(n)] = a.real(n);
      });
    });
    arguments.push_back(value(std::move(array)));
  }
  return arguments;
}

}  // namespace plumb::hlo
