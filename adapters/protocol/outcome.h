// What a backend returned.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// One device's block of one result: its bytes lie in the arena. `claim` is the slice of the global
// array that the framework says it is, a list of ranges per dimension; absent where it says nothing.
struct Block {
  std::int64_t device = 0;
  std::int64_t result = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::optional<std::vector<std::vector<Range>>> claim;
};

inline constexpr std::int64_t most_times = std::int64_t{1} << 32;  // that one collective ran

// A collective that the backend issued. Bytes are per device, but for `moved`: received from others,
// summed over devices, where the backend counted; -1 where nobody knows.
struct Collective {
  std::string kind;
  std::vector<std::vector<std::int64_t>> groups;
  std::vector<std::string> axes;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  std::int64_t in = 0, out = 0;
  std::optional<std::int64_t> moved;
  std::int64_t times = 1;
  // Of one that adds up floats: how often at most a part is added to others on its way, and rounded to the
  // wire type, the first time when it is sent. Roundings of 0: nobody said.
  std::int64_t additions = 0, roundings = 0;
  std::string op, dtype, note;
};
using Trace = std::vector<Collective>;

// What a program that only plans a product says of it, as specs' texts: how the operands lie when they
// are multiplied, and the result when its terms are summed.
struct ProductPlan {
  std::vector<std::string> operands;
  std::string result;
};

struct Outcome {
  std::vector<Block> blocks;
  std::vector<std::optional<std::string>> claims;  // per result, the layout as text
  Trace trace;
  bool traced = true;  // else nobody said one, and it is a send of unknown bytes
  ProductPlan plan;
  std::optional<std::int64_t> received;  // bytes, counted by the backend itself
  std::vector<std::string> notes;
  std::vector<double> run_seconds;
  double compile_seconds = 0;
  std::vector<std::vector<std::string>> groups;  // axis sets for which the backend had a group
  // Of results that stay in place: where each block lies, nothing for those of other ranks. Their offsets say
  // nothing.
  std::vector<std::span<const std::byte>> lying;
};

}  // namespace plumb
