// What a planted fault does to the results, seen without residues: plain doubles, on other data first.
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {

// moved: some result is another. All others leave every result as it was:
//   same       the instruction has the value it had: the devices exchanged hold the same, say
//   completed  a later sum is what it was
//   padding    what is another is cut off, masked or chosen against
//   unneeded   nothing that reaches a result reads it
//   alike      what the instruction decides, or counts, was what it was in these draws, and need not be
// Devices that part on their way to a collective move one, and so does memory that another result takes over.
enum class Harm : std::uint8_t { moved, same, completed, padding, unneeded, alike };
constexpr int harms = 6;
std::string_view name(Harm);

// Computation, instruction, and the how-manieth time that it is computed.
struct Moment {
  std::size_t computation = 0, instruction = 0;
  std::int64_t time = 0;
  auto operator<=>(const Moment&) const = default;
};

// What devices hold of everything in a run in doubles.
struct Seen {
  std::vector<Value<double>> results;
  std::map<Moment, Value<double>> values;
};

// Arguments as devices hold them, of floats that are whole and small: sums of their products are exact in any
// format.
std::vector<Value<double>> whole_numbers(const Subject&);

// Of each result, on each device, which of the elements that it holds are no padding.
std::vector<std::vector<std::vector<bool>>> covered(const Subject&);

// What is drawn; `own` where no other fault is judged on it. `moved`: which of those of a seed that are
// moved.
struct Data {
  std::uint64_t seed = 0;
  std::vector<Bounds> bounds{};
  bool own = false;
  std::int64_t moved = 0;
};

// AFTER itself, by the draw of the data, and the draws in which BEFORE decides by floats that are near where
// that turns: made once for all faults.
struct Rightly {
  std::map<std::pair<std::uint64_t, std::int64_t>, Seen> seen;
  std::optional<std::vector<Data>> near;
};

// Of AFTER against `faulty`, which is AFTER with the fault at instruction `i` of computation `c`.
// `refuted_by` is the draw of a proof that refutes it: on other data a program may not go where the fault
// stands.
struct Planted {
  const Module& faulty;
  std::size_t c = 0, i = 0;
  std::optional<Data> refuted_by{};
};
std::optional<Data> refuting_draw(const Proof&);
Harm harm_of(const Subject&, Rightly&, const Planted&);

}  // namespace plumb::hlo
