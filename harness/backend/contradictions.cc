#include "harness/backend/contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "adapters/protocol/message.h"
#include "adapters/protocol/vocabulary.h"
#include "harness/backend/movable.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

// How many elements the ranges of one dimension hold; they ascend within [0, size).
std::int64_t extent(const std::vector<Range>& ranges, std::int64_t size) {
  std::int64_t n = 0, end = 0;
  for (const Range& r : ranges) {
    if (r.begin < end || r.end > size)
      throw Malformed(fmt::format("the range {}:{} is outside {}:{}", r.begin, r.end, end, size));
    n += r.size();
    end = r.end;
  }
  return n;
}

// Bytes of the slice, which may lie anywhere where it is empty.
std::uint64_t claimed_bytes(const std::vector<std::vector<Range>>& claim, const Spec& spec) {
  if (claim.size() != spec.dims.size())
    throw Malformed(
        fmt::format("a slice of {} dimensions where the result has {}", claim.size(), spec.dims.size()));
  bool empty = false;
  for (const auto& ranges : claim) {
    bool none = true;
    for (const Range& r : ranges) {
      if (r.end < r.begin)
        throw Malformed(fmt::format("the range {}:{} ends before it begins", r.begin, r.end));
      none &= r.begin == r.end;
    }
    empty |= none;
  }
  if (empty) return 0;
  auto bytes = static_cast<std::uint64_t>(format(spec.dtype).bytes);
  for (std::size_t d = 0; d < claim.size(); ++d)
    bytes *= static_cast<std::uint64_t>(extent(claim[d], spec.dims[d].size));
  return bytes;
}

std::uint64_t slice_bytes(const Block& b, const Spec& spec) {
  try {
    return claimed_bytes(*b.claim, spec);
  } catch (const Malformed& e) {
    throw Malformed(fmt::format("the block of device {}: {}", b.device, e.what()));
  }
}

void check_block(const Block& b, const Asked& asked, std::uint64_t arena_bytes) {
  const std::span<const Spec> specs = results(asked.c);
  if (b.result < 0 || b.result >= std::ssize(specs))
    throw Malformed(fmt::format("a block of result {}, the case has {}", b.result, specs.size()));
  if (b.device < 0 || b.device >= devices(asked.c.mesh))
    throw Malformed(fmt::format("a block of device {}, the mesh has {}", b.device, devices(asked.c.mesh)));
  if (b.bytes == 0 && !b.claim) return;
  if (b.bytes > 0 && !asked.in_place && (b.offset > arena_bytes || b.bytes > arena_bytes - b.offset))
    throw Malformed(fmt::format("the block of device {} lies outside the arena of {} bytes: {} bytes at {}",
                                b.device, arena_bytes, b.bytes, b.offset));
  if (b.bytes > 0 && !asked.in_place && b.offset < asked.free)
    throw Malformed(fmt::format("the block of device {} lies among the operands, at {}", b.device, b.offset));
  if (!b.claim && asked.in_place)
    throw Malformed(
        fmt::format("the block of device {} is to be proved in place, and says no slice", b.device));
  if (!b.claim) return;
  const std::uint64_t claimed = slice_bytes(b, specs[b.result]);
  if (asked.capabilities.plans_only && b.bytes == 0) return;  // a slice without its data
  if (claimed != b.bytes)
    throw Malformed(fmt::format("the block of device {} has {} bytes and claims a slice of {}", b.device,
                                b.bytes, claimed));
}

void check_overlap(const std::vector<Block>& blocks) {
  std::vector<const Block*> by_offset;
  for (const Block& b : blocks)
    if (b.bytes > 0) by_offset.push_back(&b);
  std::sort(by_offset.begin(), by_offset.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < by_offset.size(); ++i)
    if (by_offset[i]->offset < by_offset[i - 1]->offset + by_offset[i - 1]->bytes)
      throw Malformed(
          fmt::format("the blocks of devices {} and {} overlap, and the backend did not say clones",
                      by_offset[i - 1]->device, by_offset[i]->device));
}

void check_devices(const std::vector<std::int64_t>& who, const Mesh& mesh, std::vector<bool>& seen) {
  for (std::int64_t device : who) {
    if (device < 0 || device >= devices(mesh))
      throw Malformed(fmt::format("the mesh has no device {}", device));
    if (seen[device]) throw Malformed(fmt::format("device {} stands twice", device));
    seen[device] = true;
  }
}

void check_axes(const std::vector<std::string>& axes, const Mesh& mesh) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto is = [&](const Axis& a) { return a.name == axes[i]; };
    if (std::none_of(mesh.axes.begin(), mesh.axes.end(), is))
      throw Malformed(fmt::format("the mesh has no axis \"{}\"", axes[i]));
    if (std::find(axes.begin(), axes.begin() + i, axes[i]) != axes.begin() + i)
      throw Malformed(fmt::format("axis \"{}\" stands twice", axes[i]));
  }
}

void check_who(const Collective& c, const Mesh& mesh) {
  std::vector<std::string_view> ways;
  if (!c.axes.empty()) ways.push_back("axes");
  if (!c.groups.empty()) ways.push_back("groups");
  if (!c.pairs.empty()) ways.push_back("pairs");
  if (ways.size() > 1 || (ways.empty() && c.kind != "send"))
    throw Malformed(fmt::format("{} given, and exactly one of axes, groups and pairs says who takes part",
                                ways.empty() ? "none is" : fmt::format("{} are", fmt::join(ways, " and "))));
  if (c.kind == "collective-permute" && c.pairs.empty()) throw Malformed("a permute says its pairs");
  if (!c.pairs.empty() && c.kind != "collective-permute" && c.kind != "send")
    throw Malformed("pairs are of a permute or a send");
  std::vector<bool> seen(devices(mesh)), sent(devices(mesh));
  for (const auto& group : c.groups) {
    if (group.empty()) throw Malformed("a group of no device");
    check_devices(group, mesh, seen);
  }
  check_axes(c.axes, mesh);
  for (const auto& [source, target] : c.pairs) {
    if (c.kind == "send") seen.assign(seen.size(), false), sent = seen;
    check_devices({source}, mesh, sent);
    check_devices({target}, mesh, seen);
  }
}

// What moves and adds nothing up has no operation; a send may be anything.
void check_words(const Collective& c) {
  if (!c.op.empty() && !reduces_by(c.op))
    throw Malformed(fmt::format("unknown op \"{}\": the words are {}", c.op, op_words()));
  if (!c.dtype.empty() && !is_moved_type(c.dtype))
    throw Malformed(fmt::format("unknown dtype \"{}\": the words are {}", c.dtype, moved_types()));
  if (!c.op.empty() && c.kind != "all-reduce" && c.kind != "reduce-scatter" && c.kind != "send")
    throw Malformed(fmt::format("op \"{}\" is of what reduces, and nothing is", c.op));
}

// Sums are of whole values.
void check_bytes(const Collective& c) {
  const auto dtype = dtype_named(c.dtype);
  if (!dtype || (c.kind != "all-reduce" && c.kind != "reduce-scatter")) return;
  for (const std::int64_t bytes : {c.in, c.out})
    if (bytes % format(*dtype).bytes != 0)
      throw Malformed(fmt::format("{} bytes are no whole number of {}", bytes, c.dtype));
}

}  // namespace

void check_blocks(const std::vector<Block>& blocks, const Asked& asked, std::uint64_t arena_bytes) {
  const std::int64_t n = devices(asked.c.mesh);
  std::vector<bool> seen(n * std::ssize(results(asked.c)));  // results one after the other
  const auto of_result = [&](std::int64_t i) { return i == 0 ? "" : fmt::format(", result {}", i); };
  for (const Block& b : blocks) {
    check_block(b, asked, arena_bytes);
    if (seen[b.result * n + b.device])
      throw Malformed(fmt::format("two blocks of device {}{}", b.device, of_result(b.result)));
    seen[b.result * n + b.device] = true;
  }
  for (auto first = seen.begin(); first != seen.end() && !asked.capabilities.plans_only; first += n) {
    const auto missing = std::find(first, first + n, false);
    if (missing != first + n)
      throw Malformed(fmt::format("no block of device {}{}: {} of {} devices are missing", missing - first,
                                  of_result((first - seen.begin()) / n), std::count(first, first + n, false),
                                  n));
  }
  if (!asked.capabilities.clones && !asked.in_place) check_overlap(blocks);
}

void check_trace(const Outcome& o, const Mesh& mesh) {
  std::int64_t moved = 0;  // by the collectives that say so
  bool all_say = true;
  constexpr __int128 unknown = __int128{1} << 62;  // how often it ran, nobody knows
  __int128 most = 0, uncounted = 0;  // what all can have moved, and those at least that nobody counted
  const auto can_have = [&](const Collective& c) -> Movable {
    if (c.moved) return {0, *c.moved >= 0 ? *c.moved : unknown};
    return movable(c, mesh);
  };
  const auto each = [&](const auto& check) {
    for (std::size_t i = 0; i < o.trace.size(); ++i) {
      try {
        check(o.trace[i]);
      } catch (const Malformed& e) {
        throw Malformed(fmt::format("collective {} of the trace, {}: {}", i, o.trace[i].kind, e.what()));
      }
    }
  };
  each([&](const Collective& c) {
    check_who(c, mesh);
    check_words(c);
    check_bytes(c);
    all_say = all_say && c.moved.value_or(-1) >= 0;
    const Movable can = can_have(c);
    most = std::min(unknown, most + can.most);
    uncounted = std::min(unknown, uncounted + (c.moved ? 0 : can.least));
    if (__builtin_add_overflow(moved, std::max<std::int64_t>(0, c.moved.value_or(0)), &moved))
      throw Malformed("moved overflows");
  });
  if (o.received && (all_say ? *o.received != moved : *o.received < moved))
    throw Malformed(fmt::format("received is {} bytes, and the {} moved {}", *o.received,
                                all_say ? "trace" : "collectives of the trace that say so", moved));
  if (o.received && *o.received - moved < uncounted)
    throw Malformed(fmt::format("received is {} bytes, and the collectives of the trace move {} at least",
                                *o.received,
                                static_cast<std::int64_t>(std::min(unknown, moved + uncounted))));
  if (o.received && *o.received > most)
    throw Malformed(fmt::format("received is {} bytes, and the trace can have moved {} at most", *o.received,
                                static_cast<std::int64_t>(most)));
  each([&](const Collective& c) { check_moved(c, mesh); });
  for (const std::vector<std::string>& axes : o.groups) {
    try {
      check_axes(axes, mesh);
    } catch (const Malformed& e) {
      throw Malformed(fmt::format("groups: {}", e.what()));
    }
  }
}

void check_clocks(const std::vector<Clocked>& clocks, bool agreed) {
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    std::int64_t before = 0;
    if (clocks[r].before.error < 0 || clocks[r].after.error < 0 || clocks[r].after.at < clocks[r].before.at)
      throw Malformed(fmt::format("the clock of rank {}: what it saw of the first one's is no sight", r));
    for (std::size_t i = 0; i < clocks[r].enter.size(); ++i) {
      const std::int64_t enter = clocks[r].enter[i], leave = clocks[r].leave[i];
      if (enter == -1 && leave == -1) {
        if (agreed) continue;
        throw Malformed("an iteration says -1, as of who comes late to an agreed time, and none was agreed");
      }
      if (enter < before || leave < enter)
        throw Malformed(
            fmt::format("the clock of rank {}: it entered iteration {} at {} and left it at {}, "
                        "and the time before was {}",
                        r, i, enter, leave, before));
      before = leave;
    }
  }
}

}  // namespace plumb
