// A module of HLO, as XLA dumps it as text.
//
// The parser is strict: each opcode has its list of attributes, and what it does not know it refuses by name,
// all of it at once. Law: print(parse(text)) is the text, without metadata, harmless attributes and the
// tables of files.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/hlo/module/opcode.h"
#include "reference/hlo/module/sharding.h"

namespace plumb::hlo {

// Text that is no module, or holds what is not known here. what() is "FILE:LINE:COLUMN: message", the line
// and a caret; where several things are not known, a line for each, with its count.
struct BadModule : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The numbers of a constant array, row-major: `integers` (predicates are 0 and 1, unsigned 64 bits wrap) or
// `reals`.
struct Literal {
  Integers integers;
  std::vector<double> reals;
  bool operator==(const Literal&) const = default;
};

using Texts = std::vector<std::pair<std::string, std::string>>;

// One line of a computation. Operands are indices of earlier instructions of the same computation.
struct Instruction {
  std::string name;
  Opcode opcode = Opcode::tuple;
  Shape shape;
  Integers operands;
  std::vector<Attribute> attributes;
  std::vector<Sharding> sharding;  // at most one
  Literal literal;                 // of a constant
  Texts frontend;                  // frontend_attributes
  std::string op_name;             // metadata
  std::int64_t frame = 0;          // metadata: stack_frame_id
  std::size_t at = 0;              // in the text
};

struct Computation {
  std::string name;
  std::vector<Instruction> instructions;
  Integers parameters;  // indices, in the order of their numbers
  std::int64_t root = 0;
};

// Where an instruction comes from in the user's program.
struct Frame {
  std::string file, function;
  std::int64_t line = 0, parent = 0;
};

// A result that takes the memory of a parameter.
struct Alias {
  Integers result;
  std::int64_t parameter = 0;
  Integers within;
  std::string kind;  // may-alias, must-alias
  bool operator==(const Alias&) const = default;
};

// A parameter whose memory may be any result's.
struct Donor {
  std::int64_t parameter = 0;
  Integers within;
  bool operator==(const Donor&) const = default;
};

struct Module {
  std::string file, text;  // what it was read from
  std::string name;
  std::int64_t partitions = 1, replicas = 1;
  bool scheduled = false;
  std::vector<bool> propagated_parameters, propagated_results;  // allow_spmd_sharding_propagation_to_...
  std::vector<Alias> aliases;
  std::vector<Donor> donors;
  Shape parameters, result;  // entry_computation_layout
  Texts frontend;
  std::vector<Frame> frames;  // stack_frame_id n is frames[n - 1]
  std::vector<Computation> computations;
  std::int64_t entry = 0;
};

// Throws BadModule. `file` is what messages call the text.
Module parse(std::string text, std::string_view file);

// Throws BadModule that points at the instruction, or at the attribute with which the message begins.
[[noreturn]] void refuse(const Module&, const Instruction&, std::string_view message);
// That says what is wrong of all of it, in one line.
[[noreturn]] void refuse(const Module&, std::string_view message);

// The canonical text.
std::string print(const Module&);
std::string print(const Module&, const Computation&, const Instruction&);

// The value of an attribute; the default where it does not stand there.
const Setting* find(const Instruction&, Key);
template <typename T>
T get(const Instruction& instruction, Key key, T otherwise = {}) {
  const Setting* value = find(instruction, key);
  return value ? std::get<T>(*value) : otherwise;
}

inline const Computation& entry(const Module& module) {
  return module.computations[static_cast<std::size_t>(module.entry)];
}

// "train.py:44 block", the innermost frame; empty where none is known.
std::string source(const Module&, const Instruction&);

}  // namespace plumb::hlo
