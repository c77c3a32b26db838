// Custom calls that nobody here knows: a hash of what they are called and of all that they are given.
#pragma once

#include "reference/hlo/run/fold.h"

namespace plumb::hlo {

inline std::uint64_t stirred(std::uint64_t state, std::uint64_t x) { return mixed(mixed(state) + x); }

inline std::uint64_t stirred(std::uint64_t state, std::string_view text) {
  for (const char c : text) state = stirred(state, static_cast<std::uint64_t>(c));
  return stirred(state, text.size());
}

template <typename Number>
void list_arrays(const Value<Number>& value, Pointers<Number>& all) {
  if (value.array) all.push_back(value.array.get());
  for (const Value<Number>& part : value.parts) list_arrays(part, all);
}

// What a lane is given.
template <typename Numbers>
std::uint64_t stirred(Numbers& numbers, std::uint64_t state, const Array<typename Numbers::Number>& a,
                      std::int64_t begin) {
  for (const std::int64_t n : a.dims) state = stirred(state, static_cast<std::uint64_t>(n));
  for (std::int64_t n = begin; n < begin + count(a.dims); ++n)
    state =
        stirred(state, is_real(a.type) ? numbers.print(a.reals[static_cast<std::size_t>(n)])
                                       : static_cast<std::uint64_t>(a.integers[static_cast<std::size_t>(n)]));
  return state;
}

// Each element of each result is drawn from the hash of its lane.
template <typename Numbers>
Value<typename Numbers::Number> opaque(const Machine<Numbers>& machine, const Instruction& i,
                                       const std::vector<Value<typename Numbers::Number>>& operands) {
  using Number = typename Numbers::Number;
  require(!find(i, Key::called_computations), "unsupported: a custom-call that calls computations");
  Pointers<Number> all;
  for (const Value<Number>& operand : operands) list_arrays(operand, all);
  const Joint joint = joined(all);
  std::vector<std::uint64_t> given;
  const std::uint64_t call = stirred(stirred(0, get<std::string>(i, Key::custom_call_target)),
                                     get<std::string>(i, Key::backend_config));
  for (const Array<Number>* one : all) doubt_undecided(machine.numbers, *one);
  for (std::int64_t lane = 0; lane < joint.lanes; ++lane) {
    std::uint64_t& state = given.emplace_back(call);
    for (std::size_t n = 0; n < all.size(); ++n)
      state =
          stirred(machine.numbers, state, *all[n], begin_of(joint, n, *all[n], lane, count(all[n]->dims)));
  }
  std::uint64_t result = 0;
  const auto drawn = [&](const Shape& shape) {
    Array<Number> a{shape.type, shape.dims, joint.lanes, {}, {}, joint.holders};
    ++result;
    for (const std::uint64_t state : given)
      for (std::int64_t n = 0; n < count(shape.dims); ++n) {
        const std::uint64_t random = stirred(stirred(state, result), static_cast<std::uint64_t>(n));
        if (is_real(shape.type))
          a.reals.push_back(machine.numbers.any(random));
        else
          a.integers.push_back(wrap(shape.type, static_cast<std::int64_t>(random)));
      }
    return value(std::move(a));
  };
  if (i.shape.type != Type::tuple) return drawn(i.shape);
  Value<Number> results;
  for (const Shape& part : i.shape.parts) {
    require(row(part.type).kind != Kind::none, "unsupported: a custom-call whose results are no arrays");
    results.parts.push_back(drawn(part));
  }
  return results;
}

}  // namespace plumb::hlo
