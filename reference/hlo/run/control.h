// Loops and branches. Devices may part: what some do is done for all, and kept for those alone.
#pragma once

#include "reference/hlo/run/fold.h"

namespace plumb::hlo {

// `yes` on the devices that are active, `no` on the others.
template <typename Number>
Value<Number> blend(const Active& active, const Value<Number>& yes, const Value<Number>& no) {
  Value<Number> result;
  require(yes.parts.size() == no.parts.size(), "values of one shape");
  for (std::size_t n = 0; n < yes.parts.size(); ++n)
    result.parts.push_back(blend(active, yes.parts[n], no.parts[n]));
  if (!yes.array) return result;
  const Array<Number> which =
      regrouped(Array<Number>{Type::pred, {}, std::ssize(active), Integers(active.begin(), active.end()), {}},
                std::ssize(active));
  const Joint joint = joined<Number>({&which, yes.array.get(), no.array.get()});
  const auto laid = [&](const Array<Number>& a, std::size_t n) {
    return joint.of[n].empty() ? a : with_lanes(a, joint.of[n], joint.holders);
  };
  auto result_of_each = select(laid(which, 0), laid(*yes.array, 1), laid(*no.array, 2));
  result_of_each.holders = joint.holders;
  return value(std::move(result_of_each));
}

// Those of `active` on which the predicate (or whatever `holds` says of the integer) is true.
template <typename Number, typename F>
Active where(const Array<Number>& which, const Active& active, std::int64_t devices, F is) {
  Active result(static_cast<std::size_t>(devices));
  for (std::int64_t d = 0; d < devices; ++d)
    result[static_cast<std::size_t>(d)] = (active.empty() || active[static_cast<std::size_t>(d)]) &&
                                          is(which.integers[static_cast<std::size_t>(lane_on(which, d))]);
  return result;
}

inline bool none(const Active& active) {
  for (const char one : active)
    if (one) return false;
  return true;
}

template <typename Numbers>
Value<typename Numbers::Number> loop(const Machine<Numbers>& machine, const Instruction& i,
                                     Value<typename Numbers::Number> state, Active active) {
  const Computation &condition = called(machine, i, Key::condition), &body = called(machine, i, Key::body);
  for (std::int64_t round = 0;; ++round) {
    if (round > machine.most_rounds)
      throw Misfit("a loop that has not ended after " + std::to_string(machine.most_rounds) +
                   " rounds; where a parameter counts them, --range PARAM=LO:HI bounds it");
    const auto more = evaluate(machine, condition, {state}, active).array;
    require(more && more->type == Type::pred && more->dims.empty(),
            "a condition whose result is a predicate");
    doubt_undecided(machine.numbers, *more);
    if (more->lanes == 1) {
      if (!(more->integers[0] & 1)) return state;
      if (machine.paths) machine.paths->insert({&i, 1});
      auto next = evaluate(machine, body, {state}, active);
      state = active.empty() ? std::move(next) : blend(active, next, state);
      continue;
    }
    require(machine.devices > 0, "unsupported: a loop within a reduction whose elements part");
    const Active running = where(*more, active, machine.devices, [](std::int64_t x) { return x & 1; });
    if (none(running)) return state;
    if (machine.paths) machine.paths->insert({&i, 1});
    active = all_active(running) ? Active{} : running;
    auto next = evaluate(machine, body, {state}, active);
    state = active.empty() ? std::move(next) : blend(active, next, state);
  }
}

// The branch of an index: the last where it is out of range; of a predicate the first where it is true.
inline std::int64_t branch_of(Type type, std::int64_t index, std::int64_t branches) {
  if (type == Type::pred) return index & 1 ? 0 : 1;
  return index < 0 || index >= branches ? branches - 1 : index;
}

template <typename Numbers>
Value<typename Numbers::Number> conditional(const Machine<Numbers>& machine, const Instruction& i,
                                            const std::vector<Value<typename Numbers::Number>>& operands,
                                            const Active& active) {
  const Integers branches = get<Calls>(i, Key::branch_computations).computations;
  const auto index = operands[0].array;
  require(index && index->dims.empty() && operands.size() == branches.size() + 1,
          "an operand for each branch");
  const Type type = index->type;
  require(type == Type::s32 || (type == Type::pred && branches.size() == 2),
          "an s32 index, or a predicate of two");
  doubt_undecided(machine.numbers, *index);
  const auto branch = [&](std::int64_t b, const Active& taking) {
    if (machine.paths) machine.paths->insert({&i, b});
    const auto& computation =
        machine.module.computations[static_cast<std::size_t>(branches[static_cast<std::size_t>(b)])];
    return evaluate(machine, computation, {operands[static_cast<std::size_t>(b + 1)]}, taking);
  };
  const auto taken = [&](std::int64_t x) { return branch_of(type, x, std::ssize(branches)); };
  if (index->lanes == 1) return branch(taken(index->integers[0]), active);
  require(machine.devices > 0, "unsupported: a branch within a reduction whose elements part");
  std::optional<Value<typename Numbers::Number>> result;
  for (std::int64_t b = 0; b < std::ssize(branches); ++b) {
    const Active taking =
        where(*index, active, machine.devices, [&](std::int64_t x) { return taken(x) == b; });
    if (none(taking)) continue;
    auto got = branch(b, all_active(taking) ? Active{} : taking);
    result = result ? blend(taking, got, *result) : std::move(got);
  }
  return result ? *result : branch(0, active);
}

}  // namespace plumb::hlo
