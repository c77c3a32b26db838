// Operations and cases.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "reference/words/spec.h"

namespace plumb {

// Lays a tensor out anew; finishes the sums that the target no longer names.
struct Reshard {
  bool operator==(const Reshard&) const = default;
};

// Sum of products of two operands; one letter per dimension. A letter in both operands and the
// result is a batch, in both operands alone it is contracted, in one operand and the result free.
struct Einsum {
  std::string lhs, rhs, out;
  bool operator==(const Einsum&) const = default;
};

// Grouped matmul, rows sorted by group over dimension t:
//   fwd    x[t,k]  w[g,k,n]  -> y[t,n]       y[t,:] = x[t,:] w[group of t]
//   dgrad  dy[t,n] w[g,k,n]  -> dx[t,k]      dx[t,:] = dy[t,:] w[group of t] transposed
//   wgrad  x[t,k]  dy[t,n]   -> dw[g,k,n]    dw[g] = the sum over the rows of g of x[t,:] outer dy[t,:]
// Rows past the sum of the sizes belong to no group (a tail): zero in y and dx, ignored in dw.
enum class Form : std::uint8_t { fwd, dgrad, wgrad };
struct Grouped {
  Form form = Form::fwd;
  // One list of sizes over all rows, or one list over all groups for each equal block of rows.
  std::vector<std::vector<std::int64_t>> sizes;
  bool operator==(const Grouped&) const = default;
};

// How the value of a rule is written: resolvers are given what the user wrote.
enum class Value : std::uint8_t { none, name, tuple, list };  // -  tp  (fsdp.tp)  [fsdp.tp]
struct AxisRule {
  std::string name;  // of a dimension
  Value value = Value::none;
  std::vector<std::string> axes;  // the mesh need not have them
  bool operator==(const AxisRule&) const = default;
};

// What logical axis rules lay an array out as. It has no operands; its chain is the array, replicated: the
// policy `first` (reference/meaning) gives the layout.
struct Resolve {
  std::vector<std::string> names;  // one for each dimension, empty where it has none; may repeat
  std::vector<AxisRule> rules;     // in order
  bool operator==(const Resolve&) const = default;
};

// Values as codes and scales, bit for bit; tiles.h says which values share a scale.
//   x -> codes, scales                                        the scale from the largest magnitude
//   x, history, scale -> codes, scale inverse, history, scale delayed: the scale given is used, the next
//                                                             one comes from the magnitudes of the past
struct Quantize {
  Scheme scheme = Scheme::fp8;
  std::vector<std::vector<std::int64_t>> sizes;  // of groups of rows, as in Grouped; none: no groups
  bool operator==(const Quantize&) const = default;
};

struct Op {
  std::variant<Reshard, Einsum, Grouped, Resolve, Quantize> kind;
  std::vector<Spec> operands;
  // What follows the arrows; the last is the result, the others constraints. Of quantize all are results.
  std::vector<Spec> chain;
  bool operator==(const Op&) const = default;
};

enum class Fill : std::uint8_t { provenance, cancel, normal, scaled };

// Everything needed to run it again. acc, wire and fill hold resolved values.
struct Case {
  Mesh mesh;
  Op op;
  Rule rule = Rule::flat;
  DType acc = DType::f32;
  DType wire = DType::f32;
  Fill fill = Fill::provenance;
  std::optional<std::uint64_t> seed{};  // where the line says it; data_seed() is what the data are made of
  // The axes of the submesh over which the program is written, in its order: every slice of the mesh
  // along the others runs it, with the same data, and specs name no other axes. Empty: the whole mesh.
  std::vector<AxisId> sub{};
  bool operator==(const Case&) const = default;
};

// The mesh over which the program is written, and the devices of each slice that runs it, in its
// row-major order. A case without a submesh is one slice, the mesh itself.
Mesh program_mesh(const Case&);
std::vector<std::vector<std::int64_t>> slices(const Case&);

// The case that each slice runs: over program_mesh alone, with the data of the whole.
Case slice_case(const Case&);

// The number that seeds the data: that of `seed=`, else the FNV-1a hash of the printed line (64 bits), so
// that no two lines have the same data.
std::uint64_t data_seed(const Case&);

// The case with this number said: what is derived from it has the same data.
Case seeded(Case);

// The spec with axis a of a mesh called to[a] of another.
Spec renamed(Spec, const std::vector<AxisId>& to);

inline bool is_reshard(const Case& c) { return std::holds_alternative<Reshard>(c.op.kind); }
inline bool is_resolve(const Case& c) { return std::holds_alternative<Resolve>(c.op.kind); }
inline bool is_quantize(const Case& c) { return std::holds_alternative<Quantize>(c.op.kind); }

// The results in order, and the first of them: the only one of every op but quantize.
std::span<const Spec> results(const Case& c);
inline const Spec& result(const Case& c) { return is_quantize(c) ? c.op.chain.front() : c.op.chain.back(); }

// Whether anything is quantized: by the op itself, or an operand before it is used.
bool quantizes(const Op&);

// Whether the meaning of the case adds anything: a product, or an unfinished operand or result.
bool sums(const Op&);

// What a line means that does not say: acc is s32 for s8 and s32, f64 for f64, else f32; wire the
// dtype of the spec that is reduced, the first operand that is unfinished, else the result; fill scaled where
// something is quantized, cancel where something is summed, else provenance.
DType default_acc(const Op&);
DType default_wire(const Op&);
Fill default_fill(const Op&);

// The rows of each group as runs: [begin, end) of dimension t of `rows` rows. One list of sizes gives
// at most one run per group, several lists one per block. runs[g] may hold empty ranges.
std::vector<std::vector<Range>> group_rows(const std::vector<std::vector<std::int64_t>>& sizes,
                                           std::int64_t rows);
inline std::vector<std::vector<Range>> group_rows(const Grouped& grouped, std::int64_t rows) {
  return group_rows(grouped.sizes, rows);
}

}  // namespace plumb
