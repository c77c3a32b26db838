#include "harness/backend/movable.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "adapters/protocol/message.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr __int128 unbounded = __int128{1} << 62;

// Sizes of the groups; those along axes are alike.
struct GroupSizes {
  std::vector<std::int64_t> sizes;
  std::int64_t alike = 1;  // how many groups of each size there are
  std::int64_t all() const {
    std::int64_t n = 0;
    for (const std::int64_t size : sizes) n += size * alike;
    return n;
  }
};

GroupSizes members(const Collective& c, const Mesh& mesh) {
  GroupSizes m;
  for (const auto& group : c.groups) m.sizes.push_back(std::ssize(group));
  if (c.axes.empty()) return m;
  std::int64_t n = 1;
  for (const std::string& axis : c.axes) n *= std::ranges::find(mesh.axes, axis, &Axis::name)->size;
  return {{n}, devices(mesh) / n};
}

// Of a group in one turn. n is below 2^24, so that nothing is above 2^112.
Movable of_group(const Collective& c, std::int64_t n) {
  if (n < 2) return {};
  const __int128 in = c.in, out = c.out, others = n - 1, apart = in < out ? out - in : in - out;
  if (c.kind == "all-reduce") return {others * in, n * others * in};
  if (c.kind == "all-gather")
    return {std::max(others * in, out - in), std::max(n * others * in, n * others / 2 * in + others * out)};
  if (c.kind == "reduce-scatter") return {others * out, n * others * in};
  if (c.kind == "all-to-all") {
    const int steps = std::bit_width(static_cast<std::uint64_t>(others));
    return {apart, n * std::min(in, out) * std::max(2, steps) / 2};
  }
  if (c.kind == "collective-broadcast") return {others * out, 2 * others * out};
  return {0, unbounded};
}

// How many devices may receive anything, in all from how many others each, and of what is added up at most.
struct Ends {
  __int128 links = 0, receivers = 0, others = 1;
};

Ends ends(const Collective& c, const Mesh& mesh) {
  Ends found;
  std::set<std::int64_t> targets;
  for (const auto& [source, target] : c.pairs)
    if (source != target) targets.insert(target), ++found.links;
  found.receivers = std::ssize(targets);
  const bool anybody = c.pairs.empty() && c.axes.empty() && c.groups.empty();
  const GroupSizes m = anybody ? GroupSizes{{devices(mesh)}, 1} : members(c, mesh);
  for (const __int128 size : m.sizes) {
    found.links += size * (size - 1) * m.alike;
    if (size > 1) found.receivers += size * m.alike;
    found.others = std::max(found.others, size - 1);
  }
  return found;
}

__int128 most_sent(const Collective& c, const Mesh& mesh) {
  const Ends e = ends(c, mesh);
  const __int128 sent = e.links * c.in, received = e.receivers * (c.op.empty() ? 1 : e.others) * c.out;
  return std::min(c.in > 0 ? sent : unbounded, c.out > 0 ? received : unbounded);
}

// "all-gather over 4 devices, of 4 bytes to 16,"
std::string in_words(const Collective& c, std::int64_t n) {
  const std::string over = n > 0 ? fmt::format(" over {}", counted(n, "device")) : "";
  return fmt::format("{}{}, of {} bytes to {},", c.kind, over, c.in, c.out);
}

}  // namespace

Movable movable(const Collective& c, const Mesh& mesh) {
  Movable all;
  const auto times = [&](__int128 once) { return std::min(unbounded, once) * c.times; };
  if (c.kind == "send") return {0, times(most_sent(c, mesh))};
  for (const auto& [source, target] : c.pairs)
    if (source != target) all.most = std::min(unbounded, all.most + std::min(c.in, c.out));
  const GroupSizes m = members(c, mesh);
  for (const std::int64_t n : m.sizes)
    all.most = std::min(unbounded, all.most + std::min(unbounded, of_group(c, n).most) * m.alike);
  if (!m.sizes.empty()) all.least = of_group(c, std::ranges::min(m.sizes)).least;
  return {times(all.least), times(all.most)};
}

void check_moved(const Collective& c, const Mesh& mesh) {
  if (c.moved.value_or(0) <= 0) return;
  const Movable can = movable(c, mesh);
  const std::int64_t all = members(c, mesh).all();
  const auto refuse = [&](std::int64_t over, __int128 bytes, const char* which) {
    throw Malformed(fmt::format("it moved {} bytes, and {} moves {} at {}", *c.moved, in_words(c, over),
                                static_cast<std::int64_t>(std::min(bytes, unbounded)), which));
  };
  if (*c.moved > can.most) refuse(all, can.most, "most");
  if (*c.moved < can.least) refuse(std::ranges::min(members(c, mesh).sizes), can.least, "least");
}

}  // namespace plumb
