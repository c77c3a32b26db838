#include "adapters/rank/moves.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace plumb {
namespace {

// Where a box lies in two dense blocks: runs of `count` elements, `outer` dimensions around them.
struct Runs {
  std::int64_t from = 0, to = 0, count = 1;
  int outer = 0;
  std::int64_t sizes[kMostDims], from_steps[kMostDims], to_steps[kMostDims];
};

// A box within two blocks: (begin, end) of each dimension.
struct Boxes {
  const std::int64_t *box, *from, *to;
  int rank;
};

Runs find_runs(const Boxes& boxes) {
  const auto [box, from, to, rank] = boxes;
  Runs r;
  std::int64_t from_step = 1, to_step = 1;
  bool dense = true;  // so far the box is all of both blocks
  for (int d = rank - 1; d >= 0; --d) {
    const std::int64_t begin = box[2 * d], size = box[2 * d + 1] - begin;
    assert(from[2 * d] <= begin && begin + size <= from[2 * d + 1]);
    assert(to[2 * d] <= begin && begin + size <= to[2 * d + 1]);
    const std::int64_t from_size = from[2 * d + 1] - from[2 * d], to_size = to[2 * d + 1] - to[2 * d];
    r.from += (begin - from[2 * d]) * from_step;
    r.to += (begin - to[2 * d]) * to_step;
    if (dense) {
      r.count *= size;
    } else if (size > 1) {
      r.sizes[r.outer] = size, r.from_steps[r.outer] = from_step, r.to_steps[r.outer] = to_step;
      ++r.outer;
    }
    dense = dense && size == from_size && size == to_size;
    from_step *= from_size, to_step *= to_size;
  }
  return r;
}

template <class Run>
void each(const Runs& r, Run&& run) {
  std::int64_t at[kMostDims] = {}, from = r.from, to = r.to;
  for (int d = 0; d < r.outer;) {
    run(from, to, r.count);
    for (d = 0; d < r.outer; ++d) {
      from += r.from_steps[d], to += r.to_steps[d];
      if (++at[d] < r.sizes[d]) break;
      from -= r.from_steps[d] * r.sizes[d], to -= r.to_steps[d] * r.sizes[d], at[d] = 0;
    }
  }
  if (r.outer == 0) run(from, to, r.count);
}

// `count` dense elements in another format, each rounded once.
void convert(DType from, const std::byte* in, DType to, std::byte* out, std::int64_t count) {
  if (from == to) {
    std::memcpy(out, in, count * format(from).bytes);
    return;
  }
  std::array<double, 256> values;
  for (std::int64_t i = 0; i < count; i += std::ssize(values)) {
    const std::int64_t n = std::min<std::int64_t>(std::ssize(values), count - i);
    decode(from, in + i * format(from).bytes, n, values.data());
    encode(to, values.data(), n, out + i * format(to).bytes);
  }
}

std::int64_t move(const Link& link, const Send& s) {
  const int width = format(link.from->stored).bytes;
  const Runs runs =
      find_runs({link.cells->box(s.cell), link.from->box(s.from), link.to->box(s.to), link.from->rank()});
  const std::byte* source = link.from->block(s.from);
  std::byte* target = link.to->block(s.to);
  std::int64_t moved = 0;
  each(runs, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
    link.combine.run(link.combine, target + to * width, source + from * width, count);
    moved += count;
  });
  return moved;
}

}  // namespace

std::int64_t move_within(const Link& link, std::span<const Send> sends) {
  std::int64_t moved = 0;
  for (const Send& s : sends) {
    const std::int64_t count = move(link, s);
    if (s.from != s.to) moved += count;
  }
  return moved;
}

std::int64_t packed_bytes(const Link& link, const Send& s) {
  return elements(*link.cells, s.cell) * format(link.combine.wire).bytes;
}

std::int64_t packed_bytes(const Link& link, std::span<const Parcel> parcels) {
  std::int64_t end = 0;
  for (const Parcel& p : parcels)
    if (p.at >= 0) end = std::max(end, p.at + packed_bytes(link, p.send));
  return end;
}

void pack(const Link& link, const Send& s, std::byte* to) {
  const DType stored = link.from->stored, wire = link.combine.wire;
  const std::int64_t* box = link.cells->box(s.cell);
  const std::byte* source = link.from->block(s.from);
  each(find_runs({box, link.from->box(s.from), box, link.from->rank()}),
       [&](std::int64_t from, std::int64_t at, std::int64_t count) {
         convert(stored, source + from * format(stored).bytes, wire, to + at * format(wire).bytes, count);
       });
}

void unpack(const Link& link, const Send& s, const std::byte* from) {
  const DType stored = link.to->stored, wire = link.combine.wire;
  const int width = format(stored).bytes, travelling = format(wire).bytes;
  const std::int64_t* box = link.cells->box(s.cell);
  std::byte* target = link.to->block(s.to);
  std::array<std::byte, 256 * 8> arrived;  // elements as the block is kept
  each(find_runs({box, box, link.to->box(s.to), link.to->rank()}),
       [&](std::int64_t at, std::int64_t to, std::int64_t count) {
         const std::byte* part = from + at * travelling;
         if (stored == wire) return link.combine.run(link.combine, target + to * width, part, count);
         for (std::int64_t i = 0; i < count; i += 256) {
           const std::int64_t n = std::min<std::int64_t>(256, count - i);
           convert(wire, part + i * travelling, stored, arrived.data(), n);
           link.combine.run(link.combine, target + (to + i) * width, arrived.data(), n);
         }
       });
}

const std::byte* in_one_piece(const Blocks& blocks, std::int64_t device, const std::int64_t* cell) {
  const std::int64_t* block = blocks.box(device);
  for (int d = 0; d < blocks.rank(); ++d)
    if (cell[2 * d] < block[2 * d] || cell[2 * d + 1] > block[2 * d + 1]) return nullptr;
  const Runs runs = find_runs({cell, block, cell, blocks.rank()});
  return runs.outer == 0 ? blocks.block(device) + runs.from * format(blocks.stored).bytes : nullptr;
}

}  // namespace plumb
