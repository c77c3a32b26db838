// Plans of collectives as plain data: who sends which cell of the global array to whom, and what the
// collective is called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/plan/cells.h"
#include "adapters/plan/quantizer.h"
#include "reference/words/op.h"

namespace plumb {

// One cell from one device to another; to itself, a copy within its memory that moves nothing.
struct Send {
  std::uint32_t from = 0, to = 0, cell = 0;
  bool operator==(const Send&) const = default;
};

// During a leg a device has two blocks: the one it held before and the one it will hold.
enum class Side : std::uint8_t { before, after };

// Sends that may run in any order, after those of the round before. `add` sends accumulate into the
// receiver's block; they precede every copy. They go from `before` to `before`; or, where all add up the same
// parts, `to` is `after`: the sums begin as zeros beside the parts, take their place, and are added up in the
// order of the sends, by every device in the same.
struct Round {
  bool add = false;
  Side from = Side::before, to = Side::after;
  int issued = -1;  // the collective it is part of; -1 where nothing leaves its device
  std::vector<Send> sends;
};

// A collective as it will be reported, in elements: `in` and `out` of the busiest device, `moved` in
// all. What is summed travels as the wire type, the rest as the dtype.
struct Issued {
  std::string kind;
  std::vector<AxisId> axes;                                  // every fibre along them takes part
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // of a permute
  bool sums = false;
  std::int64_t in = 0, out = 0, moved = 0;
};

// From one layout to the next. Parts are combined as `from` says, and where it averages, what was added up
// is divided by the number of parts. Zeros stand for what leaves the value of `to` as it is: for a maximum
// they are the least number.
struct Leg {
  Spec from, to;
  bool stays = false;   // both layouts give every device the same block: nothing to do
  bool zeroed = false;  // blocks begin as zeros: the parts of a sum that nobody contributes to
  CellBoxes cells;
  std::vector<Issued> issued;
  std::vector<Round> rounds;
};

// The local part of a product: the layouts in which every device multiplies what it has, by letters.
// A grouped product is the einsum tk,gkn->tn (tn,gkn->tk, tk,tn->gkn) in which row t meets group g only
// where rows[g] holds t; an einsum has no rows.
struct LocalProduct {
  std::string lhs, rhs, out;
  Spec lhs_spec, rhs_spec, out_spec;
  bool grouped = false;
  std::vector<std::vector<Range>> rows;
};

// A whole case. Operands go through their legs, are multiplied, and the result goes through its legs;
// a reshard has one operand and no product. What is quantized goes through its legs as codes; of the op
// quantize `legs` are those of the codes, and a history goes through its own to every device.
struct Plan {
  Mesh mesh;
  Rule rule = Rule::flat;
  DType acc = DType::f32, wire = DType::f32;
  std::vector<Spec> operands;
  std::vector<std::vector<Leg>> inputs;              // legs per operand
  std::vector<std::optional<Quantizer>> quantizers;  // per operand
  std::optional<LocalProduct> product;
  std::vector<Leg> legs;
  int acc_digits = 0;      // of a product's sums: those of acc where this is 0
  bool saturates = false;  // integers that do not fit are the largest or least, where they wrap
};

// `direct` moves the fewest bytes: a device receives of its target only what it does not hold, from
// the replica nearest to it (the one with its own coordinates on every axis that splits nothing).
// Sums are a reduce-scatter, every element added up by one device, one that wants it where such a
// device holds a part, and then moved to all others that want it. A target unfinished over a new axis
// gets each element on one device along the axis, one that holds it if there is one, and zeros on the
// others; one that was unfinished before keeps its parts or, where it is cheaper, element by element, has
// them added up on one device.
Leg direct(const Mesh&, const Spec& from, const Spec& to, Rule);

// `ring`: each sum a ring reduce-scatter along its axis and, where the target does not cut along it, a ring
// all-gather; each dimension that the target cuts otherwise gathered by rings, then cut locally. More bytes,
// and nothing in common with `direct` but the last cut.
std::vector<Leg> ring(const Mesh&, const Spec& from, const Spec& to, Rule);

// `calls`: the same, each collective at once and of the kind that libraries have, a sum that the target does
// not cut an all-reduce: every device adds up all parts for itself.
std::vector<Leg> calls(const Mesh&, const Spec& from, const Spec& to, Rule);

// Elements that `direct` would move, without the plan.
struct Volume {
  std::int64_t summed = 0, copied = 0;
  double sends = 0;
};
Volume volume(const Mesh&, const Spec& from, const Spec& to, Rule);

enum class Style : std::uint8_t { direct, ring, calls };
std::optional<Style> style_named(std::string_view);

// Throws std::length_error where the plan would have more than `most` sends.
Plan plan(const Case&, Style, double most);

}  // namespace plumb
