// For tests: honest plans of products. Where the operands meet is drawn, and each array's way there, and that
// of what was multiplied to the result: sums by all-reduces, scatters, or of parts that were gathered or
// exchanged; before blocks are gathered or after; and detours.
#pragma once

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "adapters/protocol/outcome.h"
#include "reference/words/testing/draw_case.h"

namespace plumb {

struct DrawnPlan {
  Case c;
  ProductPlan plan;
  Trace trace;
};

// A step as the draws print it.
inline std::string a_line_of(const Collective& one) {
  std::string over = fmt::to_string(fmt::join(one.axes, "."));
  for (const auto& [from, to] : one.pairs) over += fmt::format(" {}>{}", from, to);
  return fmt::format("    {} over {}, {} to {}\n", one.kind, over, one.in, one.out);
}

// An array on its way.
struct Journey {
  const Mesh& mesh;
  Spec at;
  Trace steps{};
  std::vector<AxisId> cut{};  // along these each device cut what all had: nobody adds that up again

  std::int64_t size() const { return largest_block_bytes(mesh, at, Rule::flat); }
};

// Whether each device finds its next block in those that its fibre along the axes has.
inline bool are_at_hand(const Journey& j, const Spec& next, const std::vector<AxisId>& axes) {
  for (const auto& fibre : fibres(j.mesh, axes))
    for (std::int64_t d : fibre) {
      const Slice due = block(j.mesh, next, Rule::flat, d);
      std::vector<Slice> pieces;
      std::int64_t found = 0;
      for (std::int64_t other : fibre) {
        const Slice held = block(j.mesh, j.at, Rule::flat, other);
        if (std::ranges::any_of(pieces, [&](const Slice& piece) { return same(piece, held); })) continue;
        std::int64_t both_have = 1;
        for (std::size_t i = 0; i < due.size(); ++i) both_have *= both(due[i], held[i]).size();
        found += both_have, pieces.push_back(held);
      }
      if (found != elements(due)) return false;
    }
  return true;
}

// To a layout by one collective over axes, if it brings that.
inline bool go(Journey& j, const char* kind, const std::vector<AxisId>& axes, const Spec& next) {
  if (!are_at_hand(j, next, axes)) return false;
  Collective one;
  one.kind = kind, one.axes = axis_names(j.mesh, axes), one.in = j.size();
  one.out = largest_block_bytes(j.mesh, next, Rule::flat);
  if (one.kind == "all-reduce") one.in = one.out;  // blocks among zeros
  if (one.kind == "all-gather" && next.unfinished != j.at.unfinished)
    one.out = one.in * axes_size(j.mesh, axes);  // parts
  if (one.kind == "all-to-all") one.out = one.in;
  if (axes_size(j.mesh, axes) > 1) j.steps.push_back(one);
  j.at = next;
  return true;
}

inline Spec without(Spec spec, const std::vector<AxisId>& axes) {
  std::erase_if(spec.unfinished, [&](AxisId axis) { return contains(axes, axis); });
  return spec;
}
inline std::vector<AxisId> idle(const Journey& j) {
  std::vector<AxisId> all;
  for (AxisId axis = 0; axis < static_cast<AxisId>(j.mesh.axes.size()); ++axis)
    if (!contains(j.at.unfinished, axis) &&
        std::ranges::none_of(j.at.dims, [&](const Dim& dim) { return contains(dim.axes, axis); }))
      all.push_back(axis);
  return all;
}

// Whether blocks along an axis may be joined by a sum, each among zeros: nobody else has them, and they are
// not to lie along it.
inline bool adds_blocks(const Journey& j, const Spec& to, AxisId axis) {
  return !contains(j.cut, axis) && !contains(to.unfinished, axis) &&
         std::ranges::none_of(to.dims, [&](const Dim& dim) { return contains(dim.axes, axis); });
}

// Finishes the sum over one of these axes, or over all.
inline bool finish(Random& random, Journey& j, const Spec& to, std::vector<AxisId> axes) {
  const AxisId one = random.of(axes);
  const bool all = random.one_in(4);
  if (!all) axes = {one};
  Spec next = without(j.at, axes);
  const std::int64_t how = random.below(5);
  if (how == 0 || (how > 2 && next.dims.empty())) return go(j, "all-reduce", axes, next);
  if (how == 1) return go(j, "all-gather", axes, next);
  if (how == 2 && axes_size(j.mesh, axes) == 1) return false;  // no sum is needed
  if (how == 2) {                                              // parts, and blocks that the same devices have
    for (Dim& dim : next.dims)
      if (!dim.axes.empty() && adds_blocks(j, to, dim.axes.back()))
        axes.push_back(dim.axes.back()), dim.axes.pop_back();
    return go(j, "all-reduce", axes, next);
  }
  std::vector<AxisId>& into = next.dims[random.below(std::ssize(next.dims))].axes;
  into.insert(into.end(), axes.begin(), axes.end());
  const std::int64_t n = axes_size(j.mesh, axes), whole = j.size();
  if (how == 4 && largest_block_bytes(j.mesh, next, Rule::flat) * n != whole) return false;
  return go(j, how == 3 ? "reduce-scatter" : "all-to-all", axes, next);
}

// Joins the last pieces of a dimension, or has them cut another.
inline bool join(Random& random, Journey& j, const Spec& to, std::size_t d) {
  Spec next = j.at;
  const std::vector<AxisId> axes{next.dims[d].axes.back()};
  next.dims[d].axes.pop_back();
  const std::int64_t how = random.below(5);
  if (how == 0 && adds_blocks(j, to, axes[0])) return go(j, "all-reduce", axes, next);
  if (how == 1) {
    next.dims[random.below(std::ssize(next.dims))].axes.push_back(axes[0]);
    if (largest_block_bytes(j.mesh, next, Rule::flat) != j.size()) return false;
    return next != j.at && go(j, "all-to-all", axes, next);
  }
  return go(j, "all-gather", axes, next);
}

inline bool cut_by_itself(Random& random, Journey& j) {
  const std::vector<AxisId> free = idle(j);
  if (free.empty() || j.at.dims.empty()) return false;
  Spec next = j.at;
  j.cut.push_back(random.of(free));
  next.dims[random.below(std::ssize(next.dims))].axes.push_back(j.cut.back());
  return go(j, "", {}, next);
}

// Two axes of a size change places: each device sends its block to another.
inline bool permute(Random& random, Journey& j) {
  const AxisId a = static_cast<AxisId>(random.below(std::ssize(j.mesh.axes))),
               b = static_cast<AxisId>(random.below(std::ssize(j.mesh.axes)));
  if (a == b || j.mesh.axes[a].size != j.mesh.axes[b].size) return false;
  std::vector<AxisId> to(j.mesh.axes.size());
  std::iota(to.begin(), to.end(), 0), std::swap(to[a], to[b]);
  const Spec next = renamed(j.at, to);
  if (contains(j.at.unfinished, a) != contains(j.at.unfinished, b)) return false;
  Collective one;
  one.kind = "collective-permute", one.in = one.out = j.size();
  for (std::int64_t source = 0; source < devices(j.mesh); ++source) {
    std::vector<std::int64_t> at = coordinates(j.mesh, source);
    std::swap(at[a], at[b]);
    for (std::int64_t target = 0; target < devices(j.mesh); ++target)
      if (target != source && coordinates(j.mesh, target) == at) one.pairs.emplace_back(source, target);
  }
  if (!one.pairs.empty() && j.size() > 0) j.steps.push_back(one);
  j.at = next;
  for (AxisId& axis : j.cut) axis = to[axis];
  return true;
}

// What is left to do of an array that is to lie so: of each dimension the axes that do not stand there.
inline std::vector<std::size_t> to_join(const Spec& at, const Spec& to) {
  std::vector<std::size_t> all;
  for (std::size_t d = 0; d < at.dims.size(); ++d) {
    const auto &own = at.dims[d].axes, &due = to.dims[d].axes;
    if (own.size() > due.size() || !std::equal(own.begin(), own.end(), due.begin())) all.push_back(d);
  }
  return all;
}

// By detours to a layout; false where it has lost its way.
inline bool travel(Random& random, Journey& j, const Spec& to) {
  std::int64_t detours = random.one_in(2) ? 0 : random.below(3);
  for (int tries = 0; tries < 40; ++tries) {
    std::vector<AxisId> open;
    for (AxisId axis : j.at.unfinished)
      if (!contains(to.unfinished, axis)) open.push_back(axis);
    const std::vector<std::size_t> joins = to_join(j.at, to);
    if (detours > 0) {
      --detours;
      random.one_in(2) ? cut_by_itself(random, j) : permute(random, j);
      continue;
    }
    if (open.empty() && joins.empty()) break;
    if (joins.empty() || (!open.empty() && random.one_in(2)))
      finish(random, j, to, open);
    else
      join(random, j, to, random.of(joins));
  }
  Spec next = to;
  std::erase_if(next.unfinished, [&](AxisId axis) { return !contains(j.at.unfinished, axis); });
  for (AxisId axis : j.at.unfinished)
    if (!contains(to.unfinished, axis)) return false;
  const std::vector<AxisId> free = idle(j);
  if (!to_join(j.at, to).empty() || !go(j, "", {}, next)) return false;
  j.at = to;
  const std::vector<AxisId> still = idle(j);
  for (AxisId axis : free)
    if (!contains(still, axis)) j.cut.push_back(axis);
  return true;
}

// Mostly of products that add up.
inline Op draw_product(Random& random, const Mesh& mesh) {
  for (;;) {
    Op op = draw_einsum(random, mesh);
    const auto& e = std::get<Einsum>(op.kind);
    const bool sums = std::ranges::any_of(e.lhs, [&](char l) { return e.out.find(l) == std::string::npos; });
    if (!sums && !random.one_in(4)) continue;
    const DType dtype = random.one_in(4) ? DType::bf16 : DType::f32;
    for (Spec& spec : op.operands) spec.dtype = dtype;
    for (Spec& spec : op.chain) spec.dtype = random.one_in(8) ? dtype : DType::f32;
    for (Spec& spec : op.chain) spec.dtype = op.chain.back().dtype;
    return op;
  }
}

// Where operands and product lie: each axis cuts a letter, leaves an operand in its parts, or repeats.
struct Meet {
  Spec operands[2], product;
};
inline Meet draw_meeting(Random& random, const Case& c) {
  const auto& e = std::get<Einsum>(c.op.kind);
  const std::string* letters[] = {&e.lhs, &e.rhs, &e.out};
  std::string all = e.lhs;
  for (char l : e.rhs)
    if (all.find(l) == std::string::npos) all += l;
  Spec of[] = {c.op.operands[0], c.op.operands[1], c.op.chain.front()};
  for (Spec& spec : of) {
    spec.unfinished.clear();
    for (Dim& dim : spec.dims) dim.axes.clear();
  }
  std::vector<AxisId> axes(c.mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::shuffle(axes.begin(), axes.end(), random.bits);
  for (AxisId axis : axes) {
    const std::int64_t what = random.below(std::ssize(all) + 2), i = random.below(2);
    if (what == std::ssize(all) && contains(c.op.operands[i].unfinished, axis))
      of[i].unfinished.push_back(axis), of[2].unfinished.push_back(axis);
    if (what >= std::ssize(all)) continue;
    for (int array : {0, 1, 2})
      if (const auto d = letters[array]->find(all[what]); d != std::string::npos)
        of[array].dims[d].axes.push_back(axis);
    if (e.out.find(all[what]) == std::string::npos) of[2].unfinished.push_back(axis);
  }
  return {
      {of[0], of[1]},
      of[2]
  };
}

// As the case says first, or in any way that leaves no more unfinished.
inline Spec draw_result(Random& random, const Case& c) {
  const Spec& first = c.op.chain.front();
  if (!random.one_in(3)) return first;
  Spec lies = draw_spec(random, c.mesh, first.dtype, shape(first));
  std::erase_if(lies.unfinished, [&](AxisId axis) { return !contains(first.unfinished, axis); });
  return lies;
}

inline DrawnPlan draw_plan(Random& random) {
  for (;;) {
    DrawnPlan p;
    p.c.mesh = draw_mesh(random);
    p.c.op = draw_product(random, p.c.mesh);
    p.c.acc = default_acc(p.c.op), p.c.wire = default_wire(p.c.op), p.c.fill = default_fill(p.c.op);
    const Meet meet = draw_meeting(random, p.c);
    const Spec lies = draw_result(random, p.c);
    Journey of[] = {
        {p.c.mesh, p.c.op.operands[0]},
        {p.c.mesh, p.c.op.operands[1]},
        {p.c.mesh, meet.product      }
    };
    bool there = travel(random, of[0], meet.operands[0]) && travel(random, of[1], meet.operands[1]) &&
                 travel(random, of[2], lies);
    for (const Spec& next : p.c.op.chain) there = there && travel(random, of[2], next);
    if (!there) continue;
    const Trace &lhs = of[0].steps, &rhs = of[1].steps;
    const bool in_turns = lhs.size() + rhs.size() <= 8;  // more are not dealt out in all ways
    for (std::size_t a = 0, b = 0; a < lhs.size() || b < rhs.size();) {
      const bool first = b == rhs.size() || (a < lhs.size() && (!in_turns || random.one_in(2)));
      p.trace.push_back(first ? lhs[a++] : rhs[b++]);
    }
    p.trace.insert(p.trace.end(), of[2].steps.begin(), of[2].steps.end());
    p.plan = {
        {print(p.c.mesh, meet.operands[0]), print(p.c.mesh, meet.operands[1])},
        print(p.c.mesh, lies)
    };
    return p;
  }
}

}  // namespace plumb
