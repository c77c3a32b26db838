// A module that runs on some devices.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "reference/hlo/run/array.h"
#include "reference/hlo/run/numbers.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {

// Devices that must hold the same and do not, or of which some reach a collective and others do not: a fault
// of the program, not of the text.
struct Disagreement : std::runtime_error {
  using std::runtime_error::runtime_error;
  const Instruction* at = nullptr;  // of the module that ran
};

// For each device whether it takes part: a loop that only some still run, a branch that only some take.
// Empty: all.
using Active = std::vector<char>;

inline bool all_active(const Active& active) {
  for (const char one : active)
    if (!one) return false;
  return true;
}

// Which branches of conditionals were taken, by their index; of a loop, 1 where its body ran.
using Paths = std::set<std::pair<const Instruction*, std::int64_t>>;

// Called before each instruction with its computation and number, and within long ones: counts them, or
// throws to end the run.
struct Pulse {
  std::function<void(const Computation&, std::size_t)> each{};
  Pause pause{};
};

// What was sent over each channel and nobody has received yet, the first of it first.
template <typename Number>
using Sent = std::map<std::int64_t, std::deque<Array<Number>>>;

// What is told of an instruction that has run: its operands, and what it holds.
template <typename Number>
using Watch = std::function<void(const Instruction&, const std::vector<Value<Number>>& operands,
                                 const Value<Number>& held)>;

// A loop that has gone so many rounds and has not ended is refused: it may have no end.
constexpr std::int64_t kMostRounds = std::int64_t{1} << 22;

// `instead` may have an instruction that runs on devices hold another value. `seen` is told of each of them,
// where anybody asks; `within` of those that run for elements, in a reduction or a sort: each lane is one.
// `paths` is told what was taken. `by_structure`: integers have the lanes that floats would have, whatever
// they are.
template <typename Numbers>
struct Machine {
  using Number = typename Numbers::Number;
  const Module& module;
  Numbers& numbers;
  std::int64_t devices = 1;  // 0: within a reduction, where there are elements and no devices
  Watch<Number> seen{};
  Paths* paths = nullptr;
  Pulse pulse{};
  Watch<Number> within{};
  std::shared_ptr<Sent<Number>> sent = std::make_shared<Sent<Number>>();
  std::int64_t most_rounds = kMostRounds;
  std::function<void(const Instruction&, const std::vector<Value<Number>>& operands, Value<Number>& held)>
      instead{};
  bool by_structure = false;
};

// The value of a computation's root. Throws BadModule where an instruction cannot mean anything, or is not
// known here.
template <typename Numbers>
Value<typename Numbers::Number> evaluate(const Machine<Numbers>&, const Computation&,
                                         std::vector<Value<typename Numbers::Number>> arguments,
                                         const Active&);

template <typename Numbers>
const Computation& called(const Machine<Numbers>& machine, const Instruction& instruction, Key key) {
  const Integers calls = get<Calls>(instruction, key).computations;
  return machine.module.computations[static_cast<std::size_t>(calls.at(0))];
}

}  // namespace plumb::hlo
