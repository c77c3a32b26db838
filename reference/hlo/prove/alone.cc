#include "reference/hlo/prove/alone.h"

#include <algorithm>

#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/maps.h"

namespace plumb::hlo {
namespace {

bool keeps_largest(Opcode opcode) { return opcode == Opcode::maximum || opcode == Opcode::or_; }

// Of the elements of a line, and an initial value, what is kept where one that would be is left out.
template <typename Number, typename F>
Number without_one(const Number* line, const Integers& terms, const Number& init, F is_before) {
  const Number *kept = &init, *next = nullptr;
  for (const std::int64_t term : terms) {
    const Number* x = line + term;
    if (is_before(*x, *kept))
      next = kept, kept = x;
    else if (!next || is_before(*x, *next))
      next = x;
  }
  return next && kept != &init ? *next : *kept;
}

const Instruction& reduced(const Computation& c, const Instruction& reduction) {
  return c.instructions[static_cast<std::size_t>(reduction.operands[0])];
}

// Whether devices hold parts of the lines of a reduction.
bool is_cut(const Module& propagated, const Computation& c, const Instruction& reduction) {
  const Instruction& operand = reduced(c, reduction);
  if (operand.sharding.empty() || operand.sharding[0].spread == Spread::manual)
    return false;  // replicated, or each device's own
  const auto division = divide(operand.sharding[0], operand.shape.dims.size(), propagated.partitions);
  const auto cuts = [&](std::int64_t d) { return division->tiles[static_cast<std::size_t>(d)] > 1; };
  return !division || std::ranges::any_of(get<Integers>(reduction, Key::dimensions), cuts);
}

// What two modules have in common of a reduction; its name is another.
auto looks_of(const Computation& c, const Instruction& reduction) {
  const Shape& shape = reduced(c, reduction).shape;
  return std::tuple{shape.type, shape.dims, get<Integers>(reduction, Key::dimensions)};
}

}  // namespace

std::set<const Instruction*> shared_out(const Subject& subject, const Pickings& before) {
  std::map<decltype(looks_of(subject.before.computations[0], {})), bool> known;
  if (subject.propagated)
    for (const Computation& c : subject.propagated->computations)
      for (const Instruction& i : c.instructions)
        if (i.opcode == Opcode::reduce && i.operands.size() == 2)
          known[looks_of(c, i)] |= is_cut(*subject.propagated, c, i);
  std::set<const Instruction*> all;
  for (const Computation& c : subject.before.computations)
    for (const Instruction& i : c.instructions) {
      if (!keeps_one(before, i) || elements(reduced(c, i).shape) == elements(i.shape)) continue;
      const auto found = known.find(looks_of(c, i));
      if (found == known.end() || found->second) all.insert(&i);
    }
  return all;
}

std::optional<Array<Twin>> without_kept(Pairs& pairs, Opcode opcode, const Instruction& i,
                                        const std::vector<Value<Twin>>& operands, const Value<Twin>& held) {
  const Array<Twin>&a = *operands[0].array, &init = *operands[1].array;
  if (std::ranges::any_of(a.integers, is_undecided) && a.type == Type::pred) return std::nullopt;
  Array<Twin> other = *held.array;
  if (other.lanes != std::max(a.lanes, init.lanes)) return std::nullopt;
  const auto inner = get<Integers>(i, Key::dimensions);
  const Matrices places = matrices(a.dims, others(a.dims.size(), {&inner}), inner);
  const std::int64_t lines = std::ssize(places.lines), size = count(a.dims);
  const auto real_of = [](const auto& x) {
    if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Twin>)
      return x.real;
    else
      return x;
  };
  const auto is_before = [&](const auto& x, const auto& y) {
    return keeps_largest(opcode) ? real_of(x) > real_of(y) : real_of(x) < real_of(y);
  };
  bool is_another = false;
  visit(a, [&](const auto& all) {
    auto& to = elements_of(other, all);
    const auto& of = elements_of(init, all);
    for (std::int64_t n = 0; n < std::ssize(to); ++n) {
      auto& x = to[static_cast<std::size_t>(n)];
      const auto next = without_one(
          all.data() + begin_of(a, n / lines, size) + places.lines[static_cast<std::size_t>(n % lines)],
          places.terms, of[static_cast<std::size_t>(begin_of(init, n / lines, 1))], is_before);
      if constexpr (std::is_same_v<std::decay_t<decltype(next)>, Twin>)
        is_another = is_another || !pairs.same(x, next);
      else
        is_another = is_another || x != next;
      x = next;
    }
  });
  return is_another ? std::optional(std::move(other)) : std::nullopt;
}

void draw_alone(const Module& module, std::vector<Bounds>& bounds, int tried) {
  const Computation& main = entry(module);
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    const auto rank = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape.dims.size();
    if (rank == 0) continue;
    // Of all arrays alike: all dimensions, the first, the last; then of each any.
    const std::uint64_t all = (std::uint64_t{1} << rank) - 1,
                        any = mixed(static_cast<std::uint64_t>(tried) * bounds.size() + p);
    const std::uint64_t dims = tried % 4 == 0   ? all
                               : tried % 4 == 1 ? 1
                               : tried % 4 == 2 ? std::uint64_t{1} << (rank - 1)
                                                : any & all;
    for (std::size_t d = 0; d < rank; ++d)
      if (dims >> d & 1) bounds[p].alone.push_back(static_cast<std::int64_t>(d));
  }
}

}  // namespace plumb::hlo
