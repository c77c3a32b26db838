#include "reference/hlo/prove/alone.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/run/fold.h"
#include "reference/hlo/run/groups.h"
#include "reference/hlo/run/integers.h"

namespace plumb::hlo {
namespace {

bool keeps_largest(Opcode opcode) { return opcode == Opcode::maximum || opcode == Opcode::or_; }

double real_of(const Twin& x) { return x.real; }
std::int64_t real_of(std::int64_t x) { return x; }

template <typename Number>
double size_of(const Number& x) {
  return std::fabs(static_cast<double>(real_of(x)));
}

// What is kept of `init`, if there is one, and of the elements of a line, and what would be without it.
template <typename Number, typename At>
std::pair<Number, Number> kept_and_next(Opcode by, std::int64_t terms, At at, const Number* init) {
  const auto is_before = [&](const Number& x, const Number& y) {
    return keeps_largest(by) ? real_of(x) > real_of(y) : real_of(x) < real_of(y);
  };
  const Number *kept = init, *next = nullptr;
  for (std::int64_t t = 0; t < terms; ++t) {
    const Number* x = &at(t);
    if (!kept || is_before(*x, *kept))
      next = kept, kept = x;
    else if (!next || is_before(*x, *next))
      next = x;
  }
  return {*kept, next && kept != init ? *next : *kept};
}

// A sum, and what it is without the half where its largest term stands.
template <typename Number, typename At, typename F>
std::pair<Number, Number> sum_and_half(std::int64_t terms, At at, const Number& zero, F plus) {
  std::int64_t largest = 0;
  Number all = zero, halves[] = {zero, zero};
  for (std::int64_t t = 0; t < terms; ++t) {
    const Number& x = at(t);
    if (size_of(x) > size_of(at(largest))) largest = t;
    all = plus(all, x);
    Number& half = halves[2 * t >= terms];
    half = plus(half, x);
  }
  return {all, halves[2 * largest < terms]};
}

const Computation& called_by(const Module& module, const Instruction& i) {
  return module.computations[static_cast<std::size_t>(get<Calls>(i, Key::to_apply).computations.at(0))];
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

// Whether it is read by nothing but comparisons, whatever way it gets there within its computation.
bool is_only_compared(const Computation& c, const Instruction& sum) {
  std::set<std::int64_t> is = {&sum - c.instructions.data()};
  const auto moves = [](Opcode opcode) {
    return opcode == Opcode::reshape || opcode == Opcode::broadcast || opcode == Opcode::transpose ||
           opcode == Opcode::convert || opcode == Opcode::copy || opcode == Opcode::bitcast;
  };
  for (std::int64_t n = *is.begin() + 1; n < std::ssize(c.instructions); ++n) {
    const Instruction& i = c.instructions[static_cast<std::size_t>(n)];
    const bool reads = std::ranges::any_of(i.operands, [&](std::int64_t o) { return is.contains(o); });
    if (!reads || i.opcode == Opcode::compare) continue;
    if (!moves(i.opcode)) return false;
    is.insert(n);
  }
  return !is.contains(c.root);
}

// By what a reduction of one array, or an all-reduce of one, is made that has no other value of most parts.
std::optional<Opcode> made_by(const Module& module, const Computation& c, const Instruction& i) {
  const bool one = (i.opcode == Opcode::reduce && i.operands.size() == 2) ||
                   (i.opcode == Opcode::all_reduce && i.operands.size() == 1);
  if (!one || i.shape.type == Type::tuple) return std::nullopt;
  const auto by = only_operation(called_by(module, i));
  const bool predicates = i.shape.type == Type::pred;
  const bool is = by && (predicates ? *by == Opcode::or_ || *by == Opcode::and_
                                    : *by == Opcode::maximum || *by == Opcode::minimum ||
                                          (*by == Opcode::add && is_only_compared(c, i)));
  return is ? by : std::nullopt;
}

bool is_of_one(const Module& module, const Computation& c, const Instruction& i) {
  if (i.opcode == Opcode::reduce) return elements(reduced(c, i).shape) == elements(i.shape);
  return groups_of(i, module.partitions)[0].size() == 1;
}

}  // namespace

Shared shared_out(const Subject& subject, const std::set<const Instruction*>& free_of_parameters) {
  std::map<decltype(looks_of(subject.before.computations[0], {})), bool> known;
  if (subject.propagated)
    for (const Computation& c : subject.propagated->computations)
      for (const Instruction& i : c.instructions)
        if (i.opcode == Opcode::reduce && i.operands.size() == 2)
          known[looks_of(c, i)] |= is_cut(*subject.propagated, c, i);
  Shared all;
  for (const Computation& c : subject.before.computations)
    for (const Instruction& i : c.instructions) {
      const auto by = made_by(subject.before, c, i);
      if (!by || free_of_parameters.contains(&i) || is_of_one(subject.before, c, i)) continue;
      const auto found = i.opcode == Opcode::reduce ? known.find(looks_of(c, i)) : known.end();
      if (found == known.end() || found->second) all.insert({&i, *by});
    }
  return all;
}

std::optional<Array<Twin>> without_part(Pairs& pairs, const Reduced& reduction) {
  const auto& [by, is, operands, devices] = reduction;
  const Array<Twin>& a = *operands[0].array;
  if (a.type == Type::pred && std::ranges::any_of(a.integers, is_undecided)) return std::nullopt;
  const std::int64_t size = count(a.dims);
  Array<Twin> other{a.type, is.shape.dims, 1, {}, {}, {}};
  bool is_another = false;
  // Of so many lines in each lane the terms stand where `at` says; `of` has the initial value.
  const auto fill = [&](std::int64_t lines, std::int64_t terms, auto at, const Array<Twin>* of) {
    visit(a, [&](const auto& all) {
      using Number = std::decay_t<decltype(all[0])>;
      auto& to = elements_of(other, all);
      for (std::int64_t n = 0; n < other.lanes * lines; ++n) {
        const auto term = [&](std::int64_t t) -> const Number& {
          return all[static_cast<std::size_t>(at(n, t))];
        };
        const Number* init = nullptr;
        if (of) init = &elements_of(*of, all)[static_cast<std::size_t>(begin_of(*of, n / lines, 1))];
        const auto plus = [&](const Number& x, const Number& y) -> Number {
          if constexpr (std::is_same_v<Number, Twin>)
            return pairs.binary(Opcode::add, x, y);
          else
            return integer_binary(Opcode::add, a.type, x, y);
        };
        const auto [kept, next] = by == Opcode::add ? sum_and_half(terms, term, init ? *init : Number{}, plus)
                                                    : kept_and_next(by, terms, term, init);
        if constexpr (std::is_same_v<Number, Twin>)
          is_another = is_another || !pairs.same(kept, next);
        else
          is_another = is_another || kept != next;
        to.push_back(next);
      }
    });
  };
  if (is.opcode == Opcode::all_reduce) {
    const std::vector<Integers> groups = groups_of(is, devices);
    other.lanes = std::ssize(groups);
    if (other.lanes > 1) {
      const Ranks ranks = ranks_of(groups, devices);
      other.holders =
          std::make_shared<const std::vector<std::int32_t>>(ranks.group.begin(), ranks.group.end());
    }
    const auto at = [&](std::int64_t n, std::int64_t t) {
      const Integers& group = groups[static_cast<std::size_t>(n / size)];
      return begin_on(a, group[static_cast<std::size_t>(t)], size) + n % size;
    };
    fill(size, std::ssize(groups[0]), at, nullptr);
  } else {
    const Array<Twin>& init = *operands[1].array;
    const auto inner = get<Integers>(is, Key::dimensions);
    const Matrices places = matrices(a.dims, others(a.dims.size(), {&inner}), inner);
    const std::int64_t lines = std::ssize(places.lines);
    other.lanes = std::max(a.lanes, init.lanes), other.holders = a.lanes > 1 ? a.holders : init.holders;
    const auto at = [&](std::int64_t n, std::int64_t t) {
      return begin_of(a, n / lines, size) + places.lines[static_cast<std::size_t>(n % lines)] +
             places.terms[static_cast<std::size_t>(t)];
    };
    fill(lines, std::ssize(places.terms), at, &init);
  }
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
