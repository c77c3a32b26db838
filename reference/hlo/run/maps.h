// Where each element of a result comes from: the meaning of every operation that moves elements, apart from
// what the elements are. A map has an entry for each element of the result: the index of an element of the
// operand, or -1 for one that is filled.
#pragma once

#include "reference/hlo/run/array.h"

namespace plumb::hlo {

Integers strides_of(const Integers& dims);

// All index vectors of `dims` in row-major order; calls f(index) for each.
template <typename F>
void each_index(const Integers& dims, F f) {
  Integers index(dims.size());
  for (std::int64_t n = count(dims); n > 0; --n) {
    f(index);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

// The elements base + index · steps, for all indices of dims.
Integers stepped(std::int64_t base, const Integers& dims, const Integers& steps);

// Each throws Misfit where the operand, the attributes and the result do not fit.
Integers broadcast_map(const Shape& operand, const Integers& dimensions, const Shape& result);
Integers transpose_map(const Shape& operand, const Integers& dimensions, const Shape& result);
Integers reverse_map(const Shape& operand, const Integers& dimensions, const Shape& result);
Integers slice_map(const Shape& operand, const std::vector<Range>&, const Shape& result);
Integers pad_map(const Shape& operand, const std::vector<Pad>&, const Shape& result);
// The same bytes, read in other extents: elements in the order of memory that the layouts say.
Integers bitcast_map(const Shape& operand, const Shape& result);
// Where the elements of the operand that begins at `offset` along `dimension` go in the result.
Integers concatenate_map(const Shape& operand, std::int64_t dimension, std::int64_t offset,
                         const Shape& result);
// A block of `sizes` at the origin of `dims`; what a start adds to it, clamped so that the block stays
// inside.
Integers block_map(const Integers& dims, const Integers& sizes);
std::int64_t block_offset(const Integers& dims, const Integers& sizes, const Integers& start);

// An array as matrices, its dimensions apart into those of lines and those of terms: the element of a line
// and a term is the one at lines[line] + terms[term].
struct Matrices {
  Integers lines, terms;
};
Matrices matrices(const Integers& dims, const Integers& lines, const Integers& terms);
Integers listed(const Matrices&);  // one line after the other

// One list after the other.
Integers listed(std::initializer_list<Integers> lists);

// The dimensions 0..rank-1 that no list has.
Integers others(std::size_t rank, std::initializer_list<const Integers*> lists);

// Which elements the index vectors of a gather or scatter mean.
struct Indexing {
  Integers operand, window;       // the operand's extents; the window's extent in each of its dimensions
  Integers offset_dims;           // dimensions of the slices (gather: result, scatter: updates) in the window
  Integers collapsed, start_map;  // of the operand
  Integers operand_batch, indices_batch;  // paired
  std::int64_t vector_dim = 0;            // of the indices
  Integers indices, slices;               // extents of the indices and of the slices
};

Indexing gather_indexing(const Instruction&, const Shape& operand, const Shape& indices);
Indexing scatter_indexing(const Instruction&, const Shape& operand, const Shape& indices,
                          const Shape& updates);

// For each element of the slices the element of the operand. A window that leaves the operand is moved inside
// (`clamped`, as a gather does), or all its elements are -1.
Integers indexed_map(const Indexing&, const std::int64_t* indices, bool clamped);

// How many windows there are along each dimension. Throws Misfit where one is reversed.
Integers windows_of(const Integers& operand, const std::vector<WindowDim>&);

// The window's place `at` (one number a dimension) over each element of the result: the operand's element, or
// -1.
Integers window_map(const Integers& operand, const std::vector<WindowDim>&, const Integers& result,
                    const Integers& at);

}  // namespace plumb::hlo
