#include "reference/hlo/prove/near.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/prove/ways.h"

namespace plumb::hlo {
namespace {

// Of a sign that is zero.
bool asks_which_is_larger(const Computation& c, const Instruction& i) {
  if (i.opcode == Opcode::sign) return is_real(i.shape.type);
  if (i.opcode != Opcode::compare || i.operands[0] == i.operands[1]) return false;
  const auto direction = get<std::string>(i, Key::direction);
  return is_real(c.instructions[static_cast<std::size_t>(i.operands[0])].shape.type) && direction != "EQ" &&
         direction != "NE";
}

// What is computed of floats that are drawn, as a number: not of integers, nor of what comparisons say. Of
// a tuple all is or nothing.
std::set<const Instruction*> of_floats(const Module& module) {
  std::set<const Instruction*> of;
  const auto add = [&](const Instruction& i) {
    return (is_real(i.shape.type) || i.shape.type == Type::tuple) && of.insert(&i).second;
  };
  for (const std::int64_t p : entry(module).parameters)
    add(entry(module).instructions[static_cast<std::size_t>(p)]);
  for (bool more = true; more;) {
    more = false;
    for (const Computation& c : module.computations)
      for (const Instruction& i : c.instructions) {
        const auto is = [&](std::int64_t o) {
          return of.contains(&c.instructions[static_cast<std::size_t>(o)]);
        };
        bool from = std::ranges::any_of(i.operands, is);
        for (const Attribute& a : i.attributes)
          if (const Calls* calls = std::get_if<Calls>(&a.value))
            for (const std::int64_t n : calls->computations) {
              const Computation& called = module.computations[static_cast<std::size_t>(n)];
              for (const std::int64_t p : called.parameters)
                if (from) more = add(called.instructions[static_cast<std::size_t>(p)]) || more;
              from = from || of.contains(&called.instructions[static_cast<std::size_t>(called.root)]);
            }
        if (from) more = add(i) || more;
      }
  }
  return of;
}

}  // namespace

bool is_greater(const Instruction& i, const Twin& a, const Twin& b) {
  if (a.real != b.real) return a.real > b.real;
  const auto direction = i.opcode == Opcode::compare ? get<std::string>(i, Key::direction) : "GT";
  return direction == "GE" || direction == "LT";
}

bool is_same(const Twin& a, const Twin& b) {
  return a.real == b.real && a.real != 0 && a.coefficient == b.coefficient && a.exponent == b.exponent;
}

bool is_last(const Instruction& i, Twin a, const Twin& b) {
  const bool greater = is_greater(i, a, b);
  a.real += greater ? -1 : 1;
  return is_greater(i, a, b) != greater;
}

namespace {

// Of two numbers that are no exponentials.
Twin between(const Twin& a, const Twin& b) {
  return {a.real - b.real, 0, a.coefficient - b.coefficient, {}};
}

// One difference more, and whether all whose first it is are whole numbers from it.
void note_whole(Apart& apart, const Twin& difference, bool all) {
  if (!apart.first) apart.first = difference;
  const Twin moved = between(difference, *apart.first);
  apart.whole = apart.whole && all && moved.coefficient == residue_of(std::nearbyint(moved.real));
}

}  // namespace

double Apart::farther() const {
  if (by_ones() && last[0] && last[1]) return 0;
  const auto of = [&](std::size_t side) {
    return std::min(part[side], largest > 0 ? number[side] / largest : kNever);
  };
  return std::max(of(0), of(1));
}

void join(Near& to, const Near& from, bool directed) {
  for (const auto& [at, one] : from) {
    Apart& all = to[at];
    for (const std::size_t side : {0, 1}) {
      all.part[side] = std::min(all.part[side], one.part[side]);
      all.number[side] = std::min(all.number[side], one.number[side]);
      all.last[side] = all.last[side] || one.last[side];
    }
    if (one.first) note_whole(all, *one.first, one.whole);
    if (!directed) all.largest = std::max(all.largest, one.largest);
  }
}

void Limits::note(const Instruction& i, const std::vector<Value<Twin>>& operands, Near& near) const {
  if (!all.contains(&i)) return;
  Apart& apart = near[&i];
  each_place(operands, [&](const Twin& a, const Twin& b, std::int64_t) {
    if (!finite_all({a.real, b.real})) return;
    const std::size_t side = is_greater(i, a, b) ? 1 : 0;
    if (apart.whole) note_whole(apart, between(a, b), !is_exponential(a) && !is_exponential(b));
    if (apart.whole && is_last(i, a, b)) apart.last[side] = true;
    if (a.real == b.real && !is_same(a, b)) return;
    const double size = std::max(std::fabs(a.real), std::fabs(b.real)), by = std::fabs(a.real - b.real);
    double& least = a.real == 0 || b.real == 0 ? apart.number[side] : apart.part[side];
    least = std::min(least, a.real == 0 || b.real == 0 ? by : by / size);
    apart.largest = std::max(apart.largest, size);
  });
}

Limits limits_of(const Module& module) {
  const std::set<const Instruction*> of = of_floats(module);
  const std::set<const Computation*> inner = of_elements(module);
  Limits limits;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const auto is = [&](std::int64_t o) {
        return of.contains(&c.instructions[static_cast<std::size_t>(o)]);
      };
      if (asks_which_is_larger(c, i) && !inner.contains(&c) && std::ranges::any_of(i.operands, is))
        limits.all.insert(&i);
    }
  return limits;
}

}  // namespace plumb::hlo
