#include "harness/backend/contradictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "adapters/protocol/message.h"
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

// Of those that take part: how many there are, and the sizes of the largest and the smallest group.
struct Members {
  std::int64_t all = 0, most = 1, fewest = 1;
};
Members members(const Collective& c, const Mesh& mesh) {
  Members m;
  if (!c.pairs.empty()) m.most = m.fewest = 2;
  for (const auto& [source, target] : c.pairs) m.all += source != target;
  if (!c.axes.empty()) m.all = devices(mesh);
  for (const std::string& axis : c.axes)
    m.most *=
        std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](const Axis& a) { return a.name == axis; })->size;
  if (!c.axes.empty()) m.fewest = m.most;
  for (const auto& group : c.groups)
    m.all += std::ssize(group), m.most = std::max<std::int64_t>(m.most, std::ssize(group));
  if (!c.groups.empty()) m.fewest = m.most;
  for (const auto& group : c.groups) m.fewest = std::min<std::int64_t>(m.fewest, std::ssize(group));
  return m;
}

constexpr __int128 unbounded = __int128{1} << 62;

// No device receives more than the operands of all the others; of an all-to-all what each sends is of its
// operand, and what it receives of its result; of a send `out` is the most that it receives, where that is
// known, and of one that adds up from each of the others. Nobody knows how often a collective ran that says
// -1.
__int128 most_moved(const Collective& c, const Mesh& mesh) {
  if (c.moved.value_or(0) < 0 || (c.kind == "send" && c.out == 0)) return unbounded;
  const Members m = members(c, mesh);
  if (c.kind == "send") {
    const bool anybody = c.axes.empty() && c.groups.empty() && c.pairs.empty();
    const std::int64_t all = anybody ? devices(mesh) : m.all, most = anybody ? devices(mesh) : m.most;
    const __int128 each = __int128{all} * (c.op.empty() ? 1 : most - 1);
    return std::min(unbounded, std::min(unbounded, each * c.out) * c.times);
  }
  const __int128 each = __int128{m.all} * (m.most - 1);  // below 2^48; in bytes 2^111, and times below 2^143
  const bool exchange = c.kind == "all-to-all" && m.most > 1;
  const __int128 once =
      exchange ? __int128{m.all} * std::min(c.in, c.out) : std::min(unbounded, each * std::max(c.in, c.out));
  return std::min(unbounded, once * c.times);
}

// What a collective moved, against what its members had and were left with: what one member has, or is left
// with, has come from or to the others.
//   all-reduce       n - 1 devices receive `in` bytes at least
//   all-gather       n - 1 devices receive the largest operand
//   reduce-scatter   one device receives `out` from each of the others
// One that moved nothing says so.
void check_moved(const Collective& c, const Mesh& mesh) {
  if (!c.moved || *c.moved < 0) return;
  const Members m = members(c, mesh);
  const __int128 most = most_moved(c, mesh);
  const std::int64_t once = c.kind == "reduce-scatter"                         ? c.out
                            : c.kind == "all-reduce" || c.kind == "all-gather" ? c.in
                                                                               : 0;
  const __int128 least = std::min(unbounded, __int128{m.fewest - 1} * once) * c.times;
  if (*c.moved > most)
    throw Malformed(fmt::format("it moved {} bytes, and {} of {} bytes can move {} at most", *c.moved,
                                counted(m.all, "device"),
                                c.kind == "all-to-all" ? std::min(c.in, c.out) : std::max(c.in, c.out),
                                static_cast<std::int64_t>(most)));
  if (*c.moved > 0 && *c.moved < least)
    throw Malformed(fmt::format("it moved {} bytes, and {} over {} of {} bytes moves {} at least", *c.moved,
                                c.kind, counted(m.fewest, "device"), once,
                                static_cast<std::int64_t>(std::min(least, unbounded))));
}

// What moves and adds nothing up has no operation; a send may be anything.
void check_op(const Collective& c) {
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
  __int128 most = 0;
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
    check_op(c);
    check_bytes(c);
    all_say = all_say && c.moved.value_or(-1) >= 0;
    most = std::min(unbounded, most + (c.moved.value_or(-1) >= 0 ? *c.moved : most_moved(c, mesh)));
    if (__builtin_add_overflow(moved, std::max<std::int64_t>(0, c.moved.value_or(0)), &moved))
      throw Malformed("moved overflows");
  });
  if (o.received && (all_say ? *o.received != moved : *o.received < moved))
    throw Malformed(fmt::format("received is {} bytes, and the {} moved {}", *o.received,
                                all_say ? "trace" : "collectives of the trace that say so", moved));
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

void check_clocks(const std::vector<Clocked>& clocks) {
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    std::int64_t before = 0;
    if (clocks[r].before.error < 0 || clocks[r].after.error < 0 || clocks[r].after.at < clocks[r].before.at)
      throw Malformed(fmt::format("the clock of rank {}: what it saw of the first one's is no sight", r));
    for (std::size_t i = 0; i < clocks[r].enter.size(); ++i) {
      const std::int64_t enter = clocks[r].enter[i], leave = clocks[r].leave[i];
      if (enter == -1 && leave == -1) continue;
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
