// A sharded tensor without its data, and where its blocks lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/words/dtype.h"
#include "reference/words/mesh.h"

namespace plumb {

struct Dim {
  std::int64_t size = 0;
  std::vector<AxisId> axes;  // the axes that split it, major to minor
  bool operator==(const Dim&) const = default;
};

// What the parts of an unfinished value make: their sum, or the largest or smallest of them.
enum class Reduce : std::uint8_t { sum, max, min };

// How values become codes and scales: fp8 with one scale for all, mxfp8 with one for each 32 values. The
// codes are f8e4m3, or f8e5m2 where the name ends in e5.
enum class Scheme : std::uint8_t { none, fp8, fp8e5, mxfp8, mxfp8e5 };

// dtype, shape, the axes that split each dimension, the axes over which the value is still an
// unfinished sum; an axis that is not named replicates. No axis stands twice. A free spec is a result
// whose layout the backend chooses: it names no axis. Of the unfinished axes `averaged` lists, in the
// same order, those by whose number of parts the sum is divided; max and min have none.
struct Spec {
  DType dtype = DType::f32;
  std::vector<Dim> dims;
  std::vector<AxisId> unfinished;
  bool free = false;
  Reduce reduction = Reduce::sum;
  std::vector<AxisId> averaged{};
  Scheme scheme = Scheme::none;  // of an operand of a product: it is quantized, then used
  bool operator==(const Spec&) const = default;
};

// The same layout with nothing left unfinished.
Spec finished(Spec);

// Whether each axis that both leave unfinished is reduced alike in both.
bool reduced_alike(const Spec&, const Spec&);

std::vector<std::int64_t> shape(const Spec&);
std::int64_t elements(const Spec&);  // of the whole array, one part
std::int64_t bytes(const Spec&);     // of the whole array, one part

// How many parts the unfinished axes make (1 where there are none), and which one a device holds.
std::int64_t parts(const Mesh&, const Spec&);
std::int64_t part(const Mesh&, const Spec&, std::int64_t device);

// How a dimension is cut by several axes.
//   dim 5, a=2, b=2    flat: 2,2,1,0 (one ceil-sized cut by 4)    nested: 2,1,1,1 (a cut per axis)
enum class Rule : std::uint8_t { flat, nested };

struct Range {
  std::int64_t begin = 0, end = 0;
  constexpr std::int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

// What is in both: nothing, from where it would begin, if they do not meet.
inline Range both(const Range& a, const Range& b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

using Slice = std::vector<Range>;  // one range per dimension of the global array
std::int64_t elements(const Slice&);
bool same(const Slice&, const Slice&);  // the same elements: all empty slices hold them

// The part of the global array that a device holds. Law: over the devices that agree on every axis
// that splits nothing, the blocks tile the array. An empty block has begin == end.
Slice block(const Mesh&, const Spec&, Rule, std::int64_t device);

// The piece of [0, size) that `index` of the cut along `axes` owns: block() of one dimension.
Range piece(const Mesh&, const Dim&, Rule, std::int64_t index);

// Bytes of the largest block that a device holds: of the first piece of every dimension.
std::int64_t largest_block_bytes(const Mesh&, const Spec&, Rule);

}  // namespace plumb
