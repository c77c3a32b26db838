// For tests: changes to what a backend replied, each to another reply that the protocol's page allows.
#pragma once

#include <map>
#include <memory>

#include "harness/run/examine.h"
#include "harness/run/testing/trace_changes.h"
#include "reference/meaning/meaning.h"
#include "reference/words/testing/draw_case.h"
#include "reference/words/text.h"

namespace plumb {

// An answer whose blocks lie here, to be changed.
struct AnsweredCase {
  using Whose = std::pair<std::int64_t, std::int64_t>;  // device, result
  Case c;
  std::vector<Tensor> operands;
  Outcome outcome;
  std::map<Whose, std::vector<std::byte>> memory;

  // Of an attempt that came to an outcome.
  explicit AnsweredCase(const Attempt& made)
      : c(made.c), operands(made.operands), outcome(std::get<Outcome>(made.answer)) {
    for (const Block& b : outcome.blocks) {
      std::vector<std::byte>& bytes = memory[{b.device, b.result}];
      bytes.resize(b.bytes);
      if (!bytes.empty()) made.read(b, bytes);
    }
  }
  Attempt attempt() const {
    const auto blocks = std::make_shared<std::map<Whose, std::vector<std::byte>>>(memory);
    return {c, operands, outcome, [blocks](const Block& b, std::span<std::byte> into) {
              std::ranges::copy(blocks->at({b.device, b.result}), into.begin());
            }};
  }
  std::vector<std::byte>& bytes_of(const Block& b) { return memory.at({b.device, b.result}); }
  const Spec& spec_of(const Block& b) const { return results(c)[b.result]; }
};

// A layout of the same array, or of one that is much like it.
inline std::string draw_claim(Random& random, const Case& c, const Spec& due) {
  Spec spec = draw_spec(random, c.mesh, due.dtype, shape(due));
  if (spec.dtype == DType::e8m0 || random.one_in(2)) spec.unfinished.clear();
  if (random.one_in(3)) spec = due, spec.free = false, spec.scheme = Scheme::none;
  if (random.one_in(8)) spec.dtype = random.of(std::vector{DType::f32, DType::bf16, DType::f16});
  if (random.one_in(8) && !spec.dims.empty()) spec.dims[random.below(std::ssize(spec.dims))].size += 1;
  for (Dim& dim : spec.dims)
    if (random.one_in(6)) dim.axes.clear();
  if (spec.unfinished.empty()) spec.reduction = Reduce::sum, spec.averaged.clear();
  if (!spec.unfinished.empty() && random.one_in(4) && spec.averaged.empty())
    spec.reduction = random.of(std::vector{Reduce::sum, Reduce::max, Reduce::min});
  if (!spec.unfinished.empty() && spec.reduction == Reduce::sum && random.one_in(4) &&
      !format(spec.dtype).integer)
    spec.averaged = {spec.unfinished.front()};
  return print(c.mesh, spec);
}

// Another slice, of which the block has the bytes.
inline void change_slice(Random& random, AnsweredCase& reply, Block& block) {
  if (random.one_in(3)) return block.claim.reset();
  const Spec& spec = reply.spec_of(block);
  std::int64_t count = 1;
  block.claim.emplace();
  for (const Dim& dim : spec.dims) {
    const std::int64_t begin = random.below(dim.size + 1), size = random.below(dim.size - begin + 1);
    std::vector<Range>& ranges = block.claim->emplace_back();
    ranges.push_back({begin, begin + size});
    if (size > 1 && random.one_in(3))
      ranges = {
          {begin,     begin + 1   },
          {begin + 1, begin + size}
      };
    if (size > 2 && random.one_in(3))
      ranges = {
          {begin,     begin + 1   },
          {begin + 2, begin + size}
      };
    std::int64_t held = 0;
    for (const Range& r : ranges) held += r.size();
    count *= held;
  }
  std::vector<std::byte>& bytes = reply.bytes_of(block);
  bytes.resize(count * format(spec.dtype).bytes);
  block.bytes = bytes.size();
}

inline void change_block(Random& random, AnsweredCase& reply, Block& block) {
  std::vector<std::byte>& bytes = reply.bytes_of(block);
  if (bytes.empty()) return;
  const DType dtype = reply.spec_of(block).dtype;
  const std::int64_t size = format(dtype).bytes, n = std::ssize(bytes) / size;
  const auto put = [&](std::int64_t at, double value) {
    store(dtype, bytes.data() + at * size, encode(dtype, value));
  };
  const std::int64_t at = random.below(n), till = at + 1 + random.below(n - at);
  const auto value = [&](std::int64_t i) { return decode(dtype, load(dtype, bytes.data() + i * size)); };
  switch (random.below(10)) {
    case 0:
      bytes[random.below(std::ssize(bytes))] ^= std::byte{1} << random.below(8);
      return;
    case 1:  // one unit in the last place, and with luck a rounding that is allowed
      bytes[at * size] ^= std::byte{1};
      return;
    case 2:
      for (std::int64_t i = at; i < till; ++i) put(i, 0);
      return;
    case 3:
      std::fill(bytes.begin() + at * size, bytes.begin() + till * size, std::byte{0xff});
      return;
    case 4:
      for (std::int64_t i = at; i < till; ++i) put(i, -value(i));
      return;
    case 5:
      for (std::int64_t i = at; i < till; ++i) put(i, 2 * value(i));
      return;
    case 6:
      std::rotate(bytes.begin(), bytes.begin() + at * size, bytes.end());
      return;
    case 7:
      put(at, random.of(std::vector{1e300, -1e300, 1e-300, -0.0, 0.5, 1.0}));
      return;
    case 8: {  // another device's
      const Block& other = random.of(reply.outcome.blocks);
      if (other.result == block.result && other.bytes == block.bytes) std::swap(bytes, reply.bytes_of(other));
      return;
    }
    default:
      for (std::int64_t i = at; i < till; ++i) put(i, value(i) + (random.one_in(2) ? 1 : 0.001));
  }
}

// The blocks of a result as of a program that takes other operands: a device's part of one is left out, or
// counts otherwise.
inline void change_operand(Random& random, AnsweredCase& reply) {
  const Case& c = reply.c;
  std::vector<Tensor> operands = reply.operands;
  if (operands.empty()) return;  // of a rerun
  const std::int64_t i = random.below(std::ssize(operands)), device = random.below(devices(c.mesh));
  Slice slice = block(c.mesh, c.op.operands[i], c.rule, device);
  if (!c.op.operands[i].unfinished.empty()) {
    const std::int64_t own = part(c.mesh, c.op.operands[i], device);
    slice.insert(slice.begin(), {own, own + 1});
  }
  Tensor& t = operands[i];
  if (elements(slice) == 0) return;
  const int size = format(t.dtype).bytes;
  std::vector<std::byte> held(elements(slice) * size);
  cut(t.shape, slice, t.bytes.data(), held.data(), size);
  const double factor = random.of(std::vector{0.0, 2.0, -1.0, 0.5});
  for (std::int64_t at = 0; at < elements(slice); ++at) {
    std::byte* element = held.data() + at * size;
    store(t.dtype, element, encode(t.dtype, factor * decode(t.dtype, load(t.dtype, element))));
  }
  paste(t.shape, slice, held.data(), t.bytes.data(), size);
  const std::vector<Tensor> wholes = evaluate_all(c, operands);
  for (const Block& b : reply.outcome.blocks) {
    const Spec& spec = reply.spec_of(b);
    const Slice asked = block(c.mesh, spec, c.rule, b.device);
    if (spec.free || !spec.unfinished.empty() ||
        elements(asked) * format(spec.dtype).bytes != static_cast<std::int64_t>(b.bytes))
      continue;
    cut(wholes[b.result].shape, asked, wholes[b.result].bytes.data(), reply.bytes_of(b).data(),
        format(spec.dtype).bytes);
  }
}

// Blocks on other devices: two axes exchanged, or one step along an axis.
inline void move_blocks(Random& random, AnsweredCase& reply) {
  const Mesh& mesh = reply.c.mesh;
  const auto moved = [&, a = random.below(std::ssize(mesh.axes)),
                      b = random.below(std::ssize(mesh.axes))](std::int64_t device) {
    for (std::int64_t other = 0; other < devices(mesh); ++other) {
      std::vector<std::int64_t> at = coordinates(mesh, device);
      if (a == b || mesh.axes[a].size != mesh.axes[b].size)
        at[a] = (at[a] + 1) % mesh.axes[a].size;
      else
        std::swap(at[a], at[b]);
      if (coordinates(mesh, other) == at) return other;
    }
    return device;
  };
  const auto before = reply.memory;
  for (auto& [whose, bytes] : reply.memory) {
    const auto other = before.find({moved(whose.first), whose.second});
    if (other != before.end() && other->second.size() == bytes.size()) bytes = other->second;
  }
}

inline void change_declared(Random& random, Declared& declared) {
  bool* const flags[] = {&declared.clones, &declared.tail_undefined, &declared.acc_unspecified,
                         &declared.wire_unspecified, &declared.parts_rounded};
  if (random.one_in(4))
    declared.engine = random.of(kEngines).engine;
  else
    *random.of(flags) ^= true;
}

// What a change is of. That of a trace leaves the values as they are, that of values the trace.
enum class Touched : std::uint8_t { trace, values, claims, declared, groups, plan };

inline Touched draw_change(Random& random, AnsweredCase& reply, Declared& declared) {
  Outcome& o = reply.outcome;
  const std::int64_t what = random.below(12);
  if (what < 6 || (o.blocks.empty() && what < 8)) {
    o.received.reset();  // it was of another trace
    if (random.one_in(16)) {
      o.traced = false, o.trace = {
                            {.kind = "send", .moved = -1, .note = "no trace"}
      };
      for (const Axis& axis : reply.c.mesh.axes) o.trace[0].axes.push_back(axis.name);
    } else {
      change_trace(random, reply.c, o.trace);
    }
    return Touched::trace;
  }
  if (what < 8) {
    if (const std::int64_t how = random.below(4); how < 2)
      change_block(random, reply, o.blocks[random.below(std::ssize(o.blocks))]);
    else
      how == 2 ? change_operand(random, reply) : move_blocks(random, reply);
    return Touched::values;
  }
  if (what == 8) {
    const std::int64_t r = random.below(std::ssize(o.claims));
    o.claims[r].reset();
    if (!random.one_in(6)) o.claims[r] = draw_claim(random, reply.c, results(reply.c)[r]);
    return Touched::claims;
  }
  if (what == 9 && !o.blocks.empty())
    return change_slice(random, reply, o.blocks[random.below(std::ssize(o.blocks))]), Touched::claims;
  if (what <= 10 && !o.plan.operands.empty()) {
    const std::int64_t i = random.below(3);
    (i < 2 ? o.plan.operands[i] : o.plan.result) =
        draw_claim(random, reply.c, i < 2 ? reply.c.op.operands[i] : result(reply.c));
    return Touched::plan;
  }
  if (what == 10) return change_declared(random, declared), Touched::declared;
  o.groups.clear();
  for (std::int64_t n = random.below(6); n > 0; --n) o.groups.push_back(draw_axes(random, reply.c.mesh));
  return Touched::groups;
}

}  // namespace plumb
