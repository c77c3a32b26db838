// Elements that the recipe of the data gives one by one. Private to the room.
#pragma once

#include "reference/check/check.h"

namespace plumb {

// Of a reshard: an element of what is moved is that of the operand, one of what is summed is what its parts
// make. Every element is compared; nothing is left to chance.
Proof prove_elements(const Prover&, const InPlace&);
Proof elements_proved(const InPlace&);  // all of them

// What is wanted in a slice of the result of a reshard, dense.
std::vector<std::byte> wanted_elements(const Prover&, const Slice&);

// Whether an element is what is wanted: zeros by value, but for what is only moved in data that have +0
// alone.
bool same_element(const Case&, std::uint64_t want, std::uint64_t got);

Proof refuted(const Prover&, std::vector<std::int64_t> index, std::uint64_t want, std::uint64_t got);

// The index in the whole array of an element of the dense block that a slice cuts out.
std::vector<std::int64_t> index_in(const Slice&, std::int64_t element);

// How many elements are written and used while they are in the cache.
inline constexpr std::int64_t kChunk = 1 << 14;

// Calls run(part, from) for parts of a slice of at most `most` elements, which is one at least, in the order
// in which they lie one after another in the dense block, at element `from`.
template <class Run>
void each_chunk(const Slice& slice, std::int64_t most, Run&& run) {
  std::int64_t rest = elements(slice), from = 0;
  if (rest == 0) return;
  std::size_t split = 0;  // dimensions before it are taken index by index
  while (rest > most) rest /= slice[split++].size();
  if (split == 0) return run(slice, from);
  Slice part = slice;
  const std::size_t last = split - 1;  // taken in steps
  const std::int64_t step = std::max<std::int64_t>(1, most / rest);
  for (std::size_t d = 0; d < split; ++d) part[d] = {slice[d].begin, slice[d].begin + 1};
  for (;;) {
    for (std::int64_t at = slice[last].begin; at < slice[last].end; at += step) {
      part[last] = {at, std::min(slice[last].end, at + step)};
      run(part, from);
      from += part[last].size() * rest;
    }
    std::size_t d = last;
    while (d > 0 && part[d - 1].end == slice[d - 1].end) --d, part[d] = {slice[d].begin, slice[d].begin + 1};
    if (d == 0) return;
    ++part[d - 1].begin, ++part[d - 1].end;
  }
}

}  // namespace plumb
