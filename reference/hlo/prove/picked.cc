#include "reference/hlo/prove/picked.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/hlo/prove/folded.h"
#include "reference/hlo/run/fold.h"

namespace plumb::hlo {
namespace {

// By what a computation of two numbers, or of two and where they stand, keeps one.
std::optional<Picking> picking(const Computation& f) {
  if (const auto operation = only_operation(f)) {
    const Opcode opcode = *operation;
    const bool predicates = f.instructions[static_cast<std::size_t>(f.root)].shape.type == Type::pred;
    const bool of_predicates = predicates && (opcode == Opcode::or_ || opcode == Opcode::and_);
    if (opcode == Opcode::maximum || opcode == Opcode::minimum || of_predicates) return Picking{opcode};
    return std::nullopt;
  }
  const std::size_t n = f.parameters.size() / 2;
  if (n < 2) return std::nullopt;
  for (const Instruction& i : f.instructions) {
    if (i.opcode != Opcode::compare || i.operands != Integers{f.parameters[0], f.parameters[n]}) continue;
    const auto direction = get<std::string>(i, Key::direction);
    if (direction[0] == 'G') return Picking{Opcode::maximum, true};
    if (direction[0] == 'L') return Picking{Opcode::minimum, true};
  }
  return std::nullopt;
}

bool is_largest(Opcode opcode) { return opcode == Opcode::maximum || opcode == Opcode::or_; }

double as_maximum(Opcode opcode, double x) { return is_largest(opcode) ? x : -x; }

void note_least(Picked& to, const Instruction& i, Opcode opcode, const Array<Twin>& held) {
  const std::size_t size = i.opcode == Opcode::reduce_window ? static_cast<std::size_t>(count(held.dims)) : 1;
  std::vector<double>& least = to.least[&i];
  least.resize(size, std::numeric_limits<double>::infinity());
  visit(held, [&](const auto& all) {
    for (std::size_t n = 0; n < all.size(); ++n) {
      double x = 0;
      if constexpr (std::is_same_v<std::decay_t<decltype(all[n])>, Twin>)
        x = all[n].real;
      else
        x = static_cast<double>(all[n]);
      double& so_far = least[n % size];
      so_far = std::min(so_far, as_maximum(opcode, x));
    }
  });
}

// Of one line of a reduction the number that is kept, in several places.
bool has_tie(const Instruction& i, const Array<Twin>& a, const Array<Twin>& held) {
  const auto inner = get<Integers>(i, Key::dimensions);
  const Matrices places = matrices(a.dims, others(a.dims.size(), {&inner}), inner);
  const std::int64_t lines = std::ssize(places.lines), size = count(a.dims);
  if (held.lanes != a.lanes) return false;
  for (std::int64_t lane = 0; lane < a.lanes; ++lane)
    for (std::int64_t n = 0; n < lines; ++n) {
      const Twin& kept = held.reals[static_cast<std::size_t>(lane * lines + n)];
      int same = 0;
      for (std::size_t t = 0; std::isfinite(kept.real) && t < places.terms.size() && same < 2; ++t) {
        const Twin& x = a.reals[static_cast<std::size_t>(
            lane * size + places.lines[static_cast<std::size_t>(n)] + places.terms[t])];
        same += x.coefficient == kept.coefficient && (x.exponent == kept.exponent || !is_exponential(x));
      }
      if (same == 2) return true;
    }
  return false;
}

// Numbers that are themselves and not what was drawn. Those that are written are of few bits; that is asked
// first.
void note_fillers(Picked& to, Opcode opcode, const Array<Twin>& a) {
  for (const Twin& x : a.reals) {
    const bool written = std::isfinite(x.real) && static_cast<double>(static_cast<float>(x.real)) == x.real;
    if (written && x.error == 0 && !is_exponential(x) && x.coefficient == residue_of(x.real))
      to.fillers.insert({opcode, x.real == 0 ? 0 : x.real});
  }
}

// Of what is kept.
Type type_kept(const Instruction& i) {
  return (i.shape.type == Type::tuple ? i.shape.parts[0] : i.shape).type;
}

// Of a type of floats no number is beyond its greatest.
bool is_greatest(double x) { return std::fabs(x) >= 0x1.fep127; }

}  // namespace

void join(Picked& to, const Picked& from) {
  for (const auto& [at, least] : from.least) {
    std::vector<double>& all = to.least[at];
    all.resize(least.size(), std::numeric_limits<double>::infinity());
    for (std::size_t n = 0; n < least.size(); ++n) all[n] = std::min(all[n], least[n]);
  }
  to.tied.insert(from.tied.begin(), from.tied.end());
  to.fillers.insert(from.fillers.begin(), from.fillers.end());
}

void Pickings::note(const Instruction& i, const std::vector<Value<Twin>>& operands, const Value<Twin>& held,
                    Picked& to) const {
  const auto found = all.find(&i);
  if (found == all.end()) return;
  const auto& [opcode, where] = found->second;
  const Array<Twin>&from = *operands[0].array, &kept = *results_of(held)[0].array;
  note_least(to, i, opcode, kept);
  if (!is_real(from.type)) return;
  if (where && i.opcode == Opcode::reduce && !to.tied.contains(&i) && has_tie(i, from, kept))
    to.tied.insert(&i);
  if (!to.numbers) return;
  note_fillers(to, opcode, from);
  note_fillers(to, opcode, *operands[operands.size() / 2].array);
}

Pickings pickings_of(const Module& module, const std::set<const Instruction*>& free_of_parameters) {
  Pickings pickings;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      if ((i.opcode != Opcode::reduce && i.opcode != Opcode::reduce_window) ||
          free_of_parameters.contains(&i))
        continue;
      for (const std::int64_t f : get<Calls>(i, Key::to_apply).computations)
        if (const auto by = picking(module.computations[static_cast<std::size_t>(f)]))
          pickings.all.insert({&i, *by});
    }
  return pickings;
}

bool has(const Picked& held, const Pick& pick) {
  if (pick.tie) return held.tied.contains(pick.at);
  const auto found = held.least.find(pick.at);
  return found != held.least.end() &&
         std::ranges::all_of(found->second, [&](double x) { return x < pick.limit; });
}

std::vector<Pick> picks_of(const Pickings& before, const Picked& held, const Picked& after) {
  constexpr int kSides = 4, kTies = 16, kFillers = 48;
  std::vector<Pick> picks;
  for (const auto& [at, by] : before.all) {
    if (!held.least.contains(at)) continue;  // was never reached
    if (!is_real(type_kept(*at))) {
      picks.push_back({at, by, false, by.opcode == Opcode::or_ ? 1.0 : 0.0, kSides});
      continue;
    }
    if (by.where && at->opcode == Opcode::reduce) picks.push_back({at, by, true, 0, kTies});
    for (const Filler& filler : after.fillers)
      if (filler.opcode == by.opcode && !held.fillers.contains(filler) && !is_greatest(filler.number))
        picks.push_back({at, by, false, as_maximum(by.opcode, filler.number), kFillers});
  }
  return picks;
}

bool is_told(const Pick& pick) { return is_real(type_kept(*pick.at)); }

std::string print(const Pick& pick) {
  const std::string at = "%" + pick.at->name;
  if (pick.tie) return at + " of two that are equal";
  return at + (is_largest(pick.by.opcode) ? " below " : " above ") +
         decimal(as_maximum(pick.by.opcode, pick.limit));
}

void draw_slices(const Module& module, std::vector<Bounds>& bounds, int tried) {
  constexpr int kMostBits = 10;
  const Computation& main = entry(module);
  const bool below = tried % 2 == 0;
  for (std::size_t p = 0; p < bounds.size(); ++p) {
    const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
    const std::int64_t rank = std::ssize(shape.dims);
    Bounds& b = bounds[p];
    if (rank == 0) continue;
    if (is_real(shape.type)) {
      const auto any = static_cast<std::int64_t>(
          mixed(static_cast<std::uint64_t>(tried) * bounds.size() + p) % static_cast<std::uint64_t>(rank));
      b.sliced = tried == 0 ? rank - 1 : tried == 1 ? 0 : any;
    } else if (b.any && shape.type == Type::pred && tried < 4) {
      b = {below ? 0 : 1, below ? 0 : 1};
    } else if (b.any && row(shape.type).kind == Kind::signed_integer) {
      const std::int64_t most = std::int64_t{1} << std::min(row(shape.type).bits - 1, kMostBits);
      b = below ? Bounds{-most, -most / 2 - 1} : Bounds{most / 2, most - 1};
    }
  }
}

}  // namespace plumb::hlo
